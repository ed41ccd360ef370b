//! Whether a file can be a plug-in. The system maps a library without reading it: a cut-off one ends the process at the
//! first access to what is missing, so it is looked at before.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Why a file is not taken up as a plug-in.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It is no library.
    #[error("is no shared library")]
    Foreign,
    /// It ends before its own tables say.
    #[error("is cut off: its tables speak of {wanted} bytes and it has {found}; install it again")]
    CutOff {
        /// Bytes that there should be.
        wanted: u64,
        /// Bytes that there are.
        found: u64,
    },
    /// It is not the file that its checksum belongs to.
    #[error("is not what its .sha256 file says; install it again")]
    Changed,
}

/// Looks at `path`: a whole shared library, and, where `path` with `.sha256` added exists, one with that checksum.
///
/// # Errors
/// What is wrong with it.
pub fn check(path: &Path) -> Result<(), PluginError> {
    let mut file = File::open(path)?;
    let found = file.metadata()?.len();
    let mut head = [0; 64];
    let read = fill(&mut file, &mut head)?;
    if head.starts_with(b"\x7fELF") {
        let wanted = elf_end(&mut file, &head[..read])?;
        if wanted > found {
            return Err(PluginError::CutOff { wanted, found });
        }
    } else if read < head.len() || !(head.starts_with(b"MZ") || is_mach_o(&head)) {
        return Err(PluginError::Foreign);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".sha256");
    match std::fs::read_to_string(Path::new(&beside)) {
        Ok(text) => checksum(&mut file, &text),
        Err(_) => Ok(()),
    }
}

fn is_mach_o(head: &[u8]) -> bool {
    matches!(head[..4], [0xcf, 0xfa, 0xed, 0xfe] | [0xca, 0xfe, 0xba, 0xbe])
}

fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut at = 0;
    while at < buffer.len() {
        match file.read(&mut buffer[at..])? {
            0 => break,
            n => at += n,
        }
    }
    Ok(at)
}

/// The byte behind the last one that a 64-bit little-endian ELF file's tables speak of.
fn elf_end(file: &mut File, head: &[u8]) -> Result<u64, PluginError> {
    if head.len() < 64 || head[4] != 2 || head[5] != 1 {
        return Err(PluginError::Foreign);
    }
    let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let half = |at: usize| u64::from(u16::from_le_bytes([head[at], head[at + 1]]));
    let (segments, sections) = (word(32), word(40));
    let (segment_size, segment_count) = (half(54), half(56));
    let (section_size, section_count) = (half(58), half(60));
    if segment_size != 56 || segment_count == 0 || !(section_count == 0 || section_size == 64) {
        return Err(PluginError::Foreign);
    }
    let segments_end = segments.saturating_add(segment_size * segment_count);
    let mut end = segments_end.max(sections.saturating_add(section_size * section_count));
    file.seek(SeekFrom::Start(segments))?;
    for _ in 0..segment_count {
        let mut segment = [0; 56];
        if fill(file, &mut segment)? < segment.len() {
            return Ok(end.max(segments_end));
        }
        let word = |at: usize| u64::from_le_bytes(segment[at..at + 8].try_into().expect("eight bytes"));
        end = end.max(word(8).saturating_add(word(32)));
    }
    Ok(end)
}

fn checksum(file: &mut File, text: &str) -> Result<(), PluginError> {
    file.seek(SeekFrom::Start(0))?;
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 20];
    loop {
        let read = fill(file, &mut block)?;
        hash.update(&block[..read]);
        if read < block.len() {
            break;
        }
    }
    let found: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let wanted = text.split_whitespace().next().unwrap_or_default();
    if wanted.eq_ignore_ascii_case(&found) { Ok(()) } else { Err(PluginError::Changed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("libggml-x.so");
        std::fs::write(&path, bytes).expect("a file");
        (dir, path)
    }

    /// A library with one segment of `body` bytes behind its tables.
    fn elf(body: usize) -> Vec<u8> {
        let mut bytes = vec![0u8; 120];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[32..40].copy_from_slice(&64u64.to_le_bytes());
        bytes[54..56].copy_from_slice(&56u16.to_le_bytes());
        bytes[56..58].copy_from_slice(&1u16.to_le_bytes());
        bytes[64 + 8..64 + 16].copy_from_slice(&120u64.to_le_bytes());
        bytes[64 + 32..64 + 40].copy_from_slice(&(body as u64).to_le_bytes());
        bytes.resize(120 + body, 7);
        bytes
    }

    #[test]
    fn every_cut_is_noticed() {
        let whole = elf(100);
        let (_dir, path) = file(&whole);
        check(&path).expect("a whole one");
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).expect("a file");
            assert!(check(&path).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn text_is_no_library() {
        let (_dir, path) =
            file(b"a text that is long enough to be taken for a header, were it not for its first bytes");
        assert!(matches!(check(&path), Err(PluginError::Foreign)));
        assert!(matches!(check(Path::new("/nowhere/libggml-x.so")), Err(PluginError::Unreadable(_))));
    }

    #[test]
    fn a_checksum_beside_it_counts() {
        let (dir, path) = file(&elf(10));
        let beside = dir.path().join("libggml-x.so.sha256");
        let right: String = Sha256::digest(elf(10)).iter().map(|byte| format!("{byte:02x}")).collect();
        std::fs::write(&beside, format!("{right}  libggml-x.so\n")).expect("a file");
        check(&path).expect("the right one");
        std::fs::write(&beside, "0".repeat(64)).expect("a file");
        assert!(matches!(check(&path), Err(PluginError::Changed)));
    }
}
