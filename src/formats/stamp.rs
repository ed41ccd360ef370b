//! How an export was made. Every export carries this.

/// Version, model, device and settings behind an export, so that it can be told apart and made again.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Stamp {
    /// Version of this program.
    pub version: String,
    /// Name of the model.
    pub model: String,
    /// SHA-256 of the model file, in hex.
    pub model_hash: String,
    /// Device in words.
    pub device: String,
    /// Arithmetic, e.g. "f32".
    pub precision: String,
    /// What else the masks depend on (network size, prompts, range, direction), by name.
    pub settings: serde_json::Map<String, serde_json::Value>,
}

impl Stamp {
    /// The program's name and version, for fields such as PNG's "Software".
    pub fn software(&self) -> String {
        format!("masklet {}", self.version)
    }

    /// The stamp as one line of JSON in plain ASCII: it fits a PNG text chunk (Latin-1) and an MP4 comment.
    pub fn to_line(&self) -> String {
        super::ascii_json::to_string(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_ascii_and_reads_back() {
        let mut stamp =
            Stamp { version: "0.1.0".into(), device: "процессор".into(), ..Stamp::default() };
        stamp.settings.insert("size".into(), 512.into());
        let line = stamp.to_line();
        assert!(line.is_ascii() && !line.contains('\n'), "{line}");
        assert_eq!(serde_json::from_str::<Stamp>(&line).unwrap(), stamp);
    }
}
