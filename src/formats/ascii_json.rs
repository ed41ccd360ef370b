//! JSON in plain ASCII: some readers open files in the machine's own encoding, so everything else is escaped.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(|c: char| !c.is_ascii()) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let c = rest[at..].chars().next().expect("a character was found at this place");
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Writes `value` on one line, without a line end.
pub fn write(writer: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(writer, Ascii)).map_err(io::Error::from)
}

/// `value` on one line. Only for values whose serialisation cannot fail (plain structs, string keys).
pub fn to_string(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes, value).expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("the formatter writes ASCII only")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    #[test]
    fn escapes_beyond_the_basic_plane() {
        assert_eq!(super::to_string(&"aé\"\\😀"), "\"a\\u00e9\\\"\\\\\\ud83d\\ude00\"");
    }

    proptest! {
        #[test]
        fn any_text_reads_back(text in any::<String>()) {
            let json = super::to_string(&text);
            prop_assert!(json.is_ascii());
            prop_assert_eq!(serde_json::from_str::<String>(&json).expect("own JSON"), text);
        }
    }
}
