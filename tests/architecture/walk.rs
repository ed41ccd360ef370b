//! Collects from a source file every path that leads into this crate.

use std::path::Path;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// One mention of something of this crate.
pub struct Reference {
    /// The room of the file.
    pub room: String,
    /// Line of the mention, from 1.
    pub line: usize,
    /// The path from the crate's root, e.g. `engine`, `Model`.
    pub path: Vec<String>,
    /// The path as it is written.
    pub written: String,
    /// The name under which a `pub use` offers it to others.
    pub exposes: Option<String>,
}

/// Something that hides imports from this test.
pub struct Oddity {
    pub line: usize,
    pub what: String,
}

/// A parsed file.
pub struct Source {
    /// Path below `src`, with `/`.
    pub file: String,
    pub room: String,
    pub text: String,
    pub references: Vec<Reference>,
    pub oddities: Vec<Oddity>,
    /// Lines with the word `unsafe` or `unsafe_code`.
    pub unsafe_lines: Vec<usize>,
    /// Modules of `std` that are named, and where.
    pub std_modules: Vec<(usize, String)>,
}

impl Source {
    /// Reads and parses `path`, which lies below `root`.
    pub fn read(root: &Path, path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let below = path.strip_prefix(root).expect("the file lies below the root");
        let mut module: Vec<String> =
            below.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let file = below.iter().map(|p| p.to_string_lossy()).collect::<Vec<_>>().join("/");
        let room = module[0].clone();
        if matches!(file.as_str(), "lib.rs" | "main.rs") || module.last().is_some_and(|m| m == "mod") {
            module.pop();
        }
        let tree = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut walker = Walker { module, source: Self::empty(file, room) };
        walker.visit_file(&tree);
        let tokens: TokenStream = text.parse().expect("it was parsed before");
        unsafe_words(tokens, &mut walker.source.unsafe_lines);
        Self { text, ..walker.source }
    }

    fn empty(file: String, room: String) -> Self {
        Self {
            file,
            room,
            text: String::new(),
            references: Vec::new(),
            oddities: Vec::new(),
            unsafe_lines: Vec::new(),
            std_modules: Vec::new(),
        }
    }
}

struct Walker {
    /// Where in the crate the visitor stands.
    module: Vec<String>,
    source: Source,
}

/// What a mention is part of.
#[derive(Clone, Copy)]
struct Mention<'a> {
    span: Span,
    /// Part of a `use` item.
    import: bool,
    /// The name that a `pub use` offers.
    exposes: Option<&'a str>,
}

impl Walker {
    fn odd(&mut self, span: Span, what: impl Into<String>) {
        self.source.oddities.push(Oddity { line: span.start().line, what: what.into() });
    }

    /// The path from the crate's root that `written` means here, or `None` when it leads elsewhere.
    fn resolve(&self, written: &[String]) -> Option<Vec<String>> {
        let (first, mut rest) = written.split_first()?;
        if first == "masklet" {
            return Some(rest.to_vec());
        }
        // The binary is a crate of its own: its `crate` is not the library.
        if self.source.room == "main" {
            return None;
        }
        let mut base = self.module.clone();
        match first.as_str() {
            "crate" => base.clear(),
            "self" => {}
            "super" => {
                base.pop();
            }
            // At the root a room's name needs no prefix.
            name if base.is_empty() && crate::is_room(name) => base.push(name.to_owned()),
            _ => return None,
        }
        while let Some((next, after)) = rest.split_first().filter(|(next, _)| *next == "super") {
            debug_assert_eq!(next, "super");
            base.pop();
            rest = after;
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    fn mention(&mut self, written: &[String], of: Mention<'_>) {
        if let [std, module, ..] = written
            && ["std", "core"].contains(&std.as_str())
        {
            self.source.std_modules.push((of.span.start().line, module.clone()));
        }
        let Some(path) = self.resolve(written) else { return };
        let root_file = self.source.room == "lib";
        match path.first().map(String::as_str) {
            None | Some("*") if of.import && !root_file => {
                self.odd(
                    of.span,
                    format!("opens the crate's root, which hides imports: {}", written.join("::")),
                );
            }
            None => {}
            Some(room) => {
                if of.exposes == Some("*") && room != self.source.room {
                    self.odd(of.span, format!("passes on all of another room: {}", written.join("::")));
                }
                self.source.references.push(Reference {
                    room: self.source.room.clone(),
                    line: of.span.start().line,
                    written: written.join("::"),
                    exposes: of.exposes.map(str::to_owned),
                    path,
                });
            }
        }
    }

    /// Every leaf of a `use` tree.
    fn use_tree(&mut self, tree: &syn::UseTree, prefix: &[String], public: bool) {
        let joined = |name: &syn::Ident| {
            let mut path = prefix.to_vec();
            // `a::{self}` means `a`.
            if name != "self" || prefix.is_empty() {
                path.push(name.to_string());
            }
            path
        };
        let offer = |path: &[String]| path.last().cloned();
        let (path, name, span) = match tree {
            syn::UseTree::Path(p) => return self.use_tree(&p.tree, &joined(&p.ident), public),
            syn::UseTree::Group(g) => return g.items.iter().for_each(|t| self.use_tree(t, prefix, public)),
            syn::UseTree::Name(n) => (joined(&n.ident), offer(&joined(&n.ident)), n.ident.span()),
            syn::UseTree::Rename(r) => (joined(&r.ident), Some(r.rename.to_string()), r.ident.span()),
            syn::UseTree::Glob(g) => {
                let path = [prefix, &["*".to_owned()]].concat();
                (path, Some("*".to_owned()), g.star_token.spans[0])
            }
        };
        self.mention(&path, Mention { span, import: true, exposes: name.as_deref().filter(|_| public) });
    }

    /// Paths inside tokens that are not parsed: macros and attributes. `texts`: strings may be paths too.
    fn tokens(&mut self, stream: TokenStream, texts: bool) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < trees.len() {
            match &trees[at] {
                TokenTree::Group(group) => self.tokens(group.stream(), texts),
                TokenTree::Literal(literal) if texts => self.text(&literal.to_string(), literal.span()),
                TokenTree::Ident(_) => at = self.token_path(&trees, at, &[]),
                _ => {}
            }
            at += 1;
        }
    }

    /// A path that starts at `trees[at]` after `prefix`; gives the index of its last token.
    fn token_path(&mut self, trees: &[TokenTree], mut at: usize, prefix: &[String]) -> usize {
        let mut path = prefix.to_vec();
        let span = trees[at].span();
        if let TokenTree::Ident(ident) = &trees[at] {
            path.push(ident.to_string());
        }
        let colon = |i: usize| matches!(trees.get(i), Some(TokenTree::Punct(p)) if p.as_char() == ':');
        while colon(at + 1) && colon(at + 2) {
            match trees.get(at + 3) {
                Some(TokenTree::Ident(ident)) => path.push(ident.to_string()),
                Some(TokenTree::Punct(p)) if p.as_char() == '*' => path.push("*".to_owned()),
                // A `use` tree inside a macro: every part of it.
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    for part in inner.split(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ',')) {
                        if !part.is_empty() {
                            self.token_path(part, 0, &path);
                        }
                    }
                    return at + 3;
                }
                _ => break,
            }
            at += 3;
        }
        let import = path.last().is_some_and(|last| last == "*");
        self.mention(&path, Mention { span, import, exposes: None });
        at
    }

    /// A string in an attribute, such as serde's `with = "crate::x"`.
    fn text(&mut self, literal: &str, span: Span) {
        if let Ok(path) = syn::parse_str::<syn::Path>(literal.trim_matches('"')) {
            let written: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
            self.mention(&written, Mention { span, import: false, exposes: None });
        }
    }
}

impl<'ast> Visit<'ast> for Walker {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.use_tree(&item.tree, &[], !matches!(item.vis, syn::Visibility::Inherited));
        visit::visit_item_use(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        if item.ident == "self" || item.ident == "masklet" {
            self.odd(item.ident.span(), "gives this crate another name, which hides imports");
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let written: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let span = path.segments.first().map_or_else(Span::call_site, |s| s.ident.span());
        self.mention(&written, Mention { span, import: false, exposes: None });
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if call.path.is_ident("include") && !call.tokens.to_string().contains("OUT_DIR") {
            self.odd(call.path.segments[0].ident.span(), "includes a file, which hides its imports");
        }
        self.tokens(call.tokens.clone(), false);
        visit::visit_macro(self, call);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let name = attribute.path();
        if name.is_ident("doc") {
            return;
        }
        if name.is_ident("path") {
            self.odd(name.segments[0].ident.span(), "takes a module from elsewhere, which hides its imports");
        }
        match &attribute.meta {
            syn::Meta::List(list) => self.tokens(list.tokens.clone(), true),
            syn::Meta::NameValue(pair) => {
                if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value {
                    self.text(&text.value(), text.span());
                }
            }
            syn::Meta::Path(_) => {}
        }
        visit::visit_attribute(self, attribute);
    }
}

fn unsafe_words(stream: TokenStream, lines: &mut Vec<usize>) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => unsafe_words(group.stream(), lines),
            TokenTree::Ident(ident) if ident == "unsafe" || ident == "unsafe_code" => {
                lines.push(ident.span().start().line)
            }
            _ => {}
        }
    }
}
