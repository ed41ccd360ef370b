//! Builds ggml from the pinned crate that carries its source, and makes the bindings. See ARCHITECTURE.md, "ggml".

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crate whose package holds ggml under `llama.cpp/ggml`.
const CARRIER: &str = "llama-cpp-sys-2";

fn main() {
    for file in ["build.rs", "Cargo.lock", "vendor/CMakeLists.txt", "vendor/wrapper.h"] {
        println!("cargo:rerun-if-changed={file}");
    }
    for name in ["GGML_SOURCE_DIR", "MASKLET_GGML_BUILD", "MASKLET_NATIVE", "DOCS_RS"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    assert!(
        manifest.join("vendor/CMakeLists.txt").exists(),
        "vendor/CMakeLists.txt is missing: plain `cargo vendor` deletes it; run `git checkout vendor` and vendor \
         into another folder with `cargo vendor third_party`"
    );
    let source = source_dir(&manifest);
    bindings(&manifest, &source);
    // docs.rs has no network and needs no library.
    if env::var_os("DOCS_RS").is_none() {
        link(&build(&source));
    }
}

/// Where ggml's source lies: `GGML_SOURCE_DIR`, else inside the pinned crate.
fn source_dir(manifest: &Path) -> PathBuf {
    if let Some(dir) = env::var_os("GGML_SOURCE_DIR") {
        return dir.into();
    }
    let output = Command::new(env::var_os("CARGO").expect("cargo sets it"))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(manifest.join("Cargo.toml"))
        .output()
        .expect("cargo can be started again");
    assert!(
        output.status.success(),
        "cargo metadata failed; offline builds need `cargo fetch` first:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let carrier = metadata["packages"]
        .as_array()
        .and_then(|packages| packages.iter().find(|p| p["name"] == CARRIER))
        .and_then(|p| p["manifest_path"].as_str())
        .unwrap_or_else(|| panic!("{CARRIER} is not in Cargo.lock"));
    Path::new(carrier).parent().expect("a manifest lies in a folder").join("llama.cpp/ggml")
}

/// Builds ggml once per flag set, in a folder that all profiles share.
fn build(source: &Path) -> PathBuf {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let target = env::var("TARGET").expect("cargo sets it");
    let native = if env::var_os("MASKLET_NATIVE").is_some_and(|v| v == "0") { "OFF" } else { "ON" };
    let folder = env::var_os("MASKLET_GGML_BUILD").map_or_else(
        || out.ancestors().nth(4).expect("OUT_DIR lies four folders below target").to_path_buf(),
        PathBuf::from,
    );
    let folder = folder.join(format!("ggml-{target}-native-{native}"));
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    // Two cargo runs (an editor's and a shell's) must not build in it at once.
    let lock = File::create(folder.join("lock")).expect("the target folder can be written");
    lock.lock().expect("the file system has locks");
    // A registry's source never changes: what another checkout built from it serves this one too.
    let recipe = std::fs::read_to_string("vendor/CMakeLists.txt").expect("checked at the start");
    let (stamp, wanted) = (folder.join("built-from"), format!("{}\n{recipe}", source.display()));
    let fixed = env::var_os("GGML_SOURCE_DIR").is_none();
    if fixed && std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return folder;
    }
    let _ = std::fs::remove_file(&stamp);
    let built = cmake::Config::new("vendor")
        // Always: cmake-rs would make an unoptimised ggml for the dev profile.
        .profile("Release")
        .define("GGML_SOURCE_DIR", source)
        .define("GGML_LLAMAFILE", "ON")
        .define("GGML_OPENMP", "OFF")
        .define("GGML_CCACHE", "OFF")
        .define("GGML_NATIVE", native)
        .define("BUILD_SHARED_LIBS", "OFF")
        .out_dir(&folder)
        .build();
    std::fs::write(stamp, wanted).expect("the target folder can be written");
    built
}

/// Static libraries, users before the used.
fn link(built: &Path) {
    println!("cargo:rustc-link-search=native={}", built.join("lib").display());
    println!("cargo:rustc-link-search=native={}", built.join("lib64").display());
    for library in ["ggml", "ggml-cpu", "ggml-base"] {
        println!("cargo:rustc-link-lib=static={library}");
    }
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos") => {
            println!("cargo:rustc-link-lib=dylib=c++");
            println!("cargo:rustc-link-lib=framework=Accelerate");
        }
        Ok("windows") => {}
        _ => println!("cargo:rustc-link-lib=dylib=stdc++"),
    }
}

fn bindings(manifest: &Path, source: &Path) {
    bindgen::Builder::default()
        .header(manifest.join("vendor/wrapper.h").display().to_string())
        .clang_arg(format!("-I{}", source.join("include").display()))
        .allowlist_item("(ggml|GGML)_.*")
        .opaque_type("_IO_FILE")
        // ggml_backend_dev_type is an enum and a function: plain constants avoid the clash.
        .prepend_enum_name(false)
        .layout_tests(false)
        .generate_comments(false)
        .use_core()
        .generate()
        .expect("libclang reads ggml's headers: install libclang (Debian: libclang-dev)")
        .write_to_file(PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("ggml.rs"))
        .expect("OUT_DIR can be written");
}
