//! Owns the way from a published EdgeTAM checkpoint to Masklet's model file: reading, checking, folding, writing.
//! May import: base, ggml, model.
//! Must not: run the network, or accept a file that is only nearly right.

mod checkpoint;
mod error;
mod expected;
mod fold;
mod info;
mod layout;
mod names;
mod random;
mod safetensors;
mod torch;
mod write;

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use crate::ggml::gguf::Gguf;

pub use checkpoint::{Checkpoint, CheckpointTensor, Source};
pub use error::ConvertError;
pub use expected::expected;
pub use info::{ModelInfo, describe, describe_gguf};
pub use names::{HfSource, hugging_face_sources};
pub use random::random_checkpoint;
pub use write::{ConvertOptions, WeightType, to_gguf_bytes};

/// What a conversion did.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ConvertSummary {
    /// The model file written.
    pub output: PathBuf,
    /// Layout of the file read.
    pub source: Source,
    /// SHA-256 of the file read, in hex.
    pub source_sha256: String,
    /// Storage of the weights.
    pub weights: WeightType,
    /// Tensors written.
    pub tensors: usize,
    /// Weights written (after folding).
    pub parameters: u64,
    /// Size of the model file in bytes.
    pub bytes: u64,
    /// SHA-256 of the model file, in hex.
    pub sha256: String,
}

/// Converts the checkpoint `input` (official `.pt` or Hugging Face safetensors) to the model file `output`.
///
/// The file is written beside `output` under a temporary name, read back and checked, and only then given its name:
/// after an error or a crash `output` is as it was.
///
/// # Errors
/// `input` is not a whole EdgeTAM checkpoint with finite weights, an option is impossible, or `output` cannot be
/// written.
pub fn convert(
    input: &Path,
    output: &Path,
    options: &ConvertOptions,
) -> Result<ConvertSummary, ConvertError> {
    options.check()?;
    if let (Ok(from), Ok(to)) = (input.canonicalize(), output.canonicalize())
        && from == to
    {
        return Err(ConvertError::SameFile { path: output.to_owned() });
    }
    let checkpoint = Checkpoint::open(input)?;
    let failed = |source| ConvertError::Write { path: output.to_owned(), source };
    let folder = match output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let temporary = new_file_options().tempfile_in(folder).map_err(failed)?;
    write::write(&checkpoint, options, BufWriter::new(temporary.as_file())).map_err(|error| match error {
        ConvertError::Output(source) => failed(source),
        other => other,
    })?;
    sync(temporary.as_file()).map_err(failed)?;
    let gguf = Gguf::open(temporary.path()).map_err(|error| ConvertError::Verify { reason: error.into() })?;
    let info = describe_gguf(&gguf);
    temporary.persist(output).map_err(|error| failed(error.error))?;
    Ok(ConvertSummary {
        output: output.to_owned(),
        source: checkpoint.source(),
        source_sha256: checkpoint.sha256().to_owned(),
        weights: options.weights,
        tensors: info.tensors,
        parameters: info.parameters,
        bytes: info.bytes,
        sha256: info.sha256,
    })
}

/// Temporary files that end as ordinary ones: readable as the user's umask says, not by the owner alone.
fn new_file_options() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".masklet-").suffix(".gguf.part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder
}

fn sync(file: &File) -> std::io::Result<()> {
    file.sync_all()
}
