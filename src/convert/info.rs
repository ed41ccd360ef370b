//! Owns the description of a model file for people and programs.
//! May import: ggml.
//! Must not: judge whether the network can be built from it; the loader does.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::checkpoint::hex;
use crate::ggml::gguf::{Gguf, GgufError};

/// What a model file says about itself.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ModelInfo {
    /// `general.architecture`; "edgetam" for a model that Masklet can run.
    pub architecture: String,
    /// `general.name`.
    pub name: String,
    /// Number of tensors.
    pub tensors: usize,
    /// Number of weights.
    pub parameters: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of the file, in hex.
    pub sha256: String,
    /// How many tensors of each storage type.
    pub types: BTreeMap<String, usize>,
    /// All metadata as text, in the order of the file.
    pub metadata: Vec<(String, String)>,
}

/// Reads, checks and describes a model file.
///
/// # Errors
/// The file is not a sound GGUF file, or has a weight that is not finite.
pub fn describe(path: &Path) -> Result<ModelInfo, GgufError> {
    let gguf = Gguf::open(path)?;
    gguf.check_finite()
        .map_err(|reason| GgufError::InFile { path: path.to_owned(), reason: Box::new(reason) })?;
    Ok(describe_gguf(&gguf))
}

/// Describes a parsed model file, such as the built-in one.
pub fn describe_gguf(gguf: &Gguf) -> ModelInfo {
    let text = |key: &str| gguf.meta_str(key).unwrap_or("unknown").to_owned();
    let mut types = BTreeMap::new();
    for (_, view) in gguf.tensors() {
        *types.entry(view.kind.to_string()).or_insert(0) += 1;
    }
    ModelInfo {
        architecture: text("general.architecture"),
        name: text("general.name"),
        tensors: gguf.tensors().len(),
        parameters: gguf.tensors().map(|(_, view)| view.len() as u64).sum(),
        bytes: gguf.file_size() as u64,
        sha256: hex(&Sha256::digest(gguf.file_bytes())),
        types,
        metadata: gguf.metadata().map(|(key, value)| (key.to_owned(), gguf.text(value))).collect(),
    }
}

impl fmt::Display for ModelInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<String> = self.types.iter().map(|(kind, count)| format!("{count} x {kind}")).collect();
        writeln!(f, "name          {}", self.name)?;
        writeln!(f, "architecture  {}", self.architecture)?;
        writeln!(f, "tensors       {} ({})", self.tensors, types.join(", "))?;
        writeln!(f, "weights       {}", self.parameters)?;
        writeln!(f, "size          {} bytes", self.bytes)?;
        writeln!(f, "sha256        {}", self.sha256)?;
        let width = self.metadata.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
        for (key, value) in &self.metadata {
            // A hostile or foreign file may hold control characters; they stay out of the terminal.
            let key: String = key.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
            let value: String =
                value.chars().map(|c| if c.is_control() { '?' } else { c }).take(200).collect();
            writeln!(f, "{key:width$}  {value}")?;
        }
        Ok(())
    }
}
