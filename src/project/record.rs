//! One line of the journal: length, checksum, JSON. A line that was cut off or damaged is noticed.

use super::file::hash;

/// Longest record, in bytes of JSON.
const LONGEST: usize = 1 << 30;
/// Bytes before the JSON: eight digits of length, a space, eight of checksum, a space.
const HEAD: usize = 18;

/// The line for `json`.
pub(super) fn line(json: &[u8]) -> Vec<u8> {
    let mut line = format!("{:08x} {} ", json.len(), checksum(json)).into_bytes();
    line.extend_from_slice(json);
    line.push(b'\n');
    line
}

/// The JSON of the first line of `bytes`, and what follows; `None` when the line is not whole.
pub(super) fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let head = std::str::from_utf8(bytes.get(..HEAD)?).ok()?;
    let (length, rest) = head.split_once(' ')?;
    let length = usize::from_str_radix(length, 16).ok().filter(|length| *length <= LONGEST)?;
    let json = bytes.get(HEAD..HEAD + length)?;
    let after = bytes.get(HEAD + length..)?.strip_prefix(b"\n")?;
    (rest.strip_suffix(' ')? == checksum(json)).then_some((json, after))
}

/// Eight digits that change with every byte.
fn checksum(json: &[u8]) -> String {
    let mut digits = hash(json);
    digits.truncate(8);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_are_read_back_and_any_damage_is_noticed(json in "[ -~]{0,60}", more in "[ -~]{0,9}", at in any::<usize>(), flip in 1u8..=255) {
            let mut bytes = line(json.as_bytes());
            let length = bytes.len();
            bytes.extend(more.bytes());
            prop_assert_eq!(split(&bytes), Some((json.as_bytes(), more.as_bytes())));
            for cut in 0..length {
                prop_assert_eq!(split(&bytes[..cut]), None);
            }
            bytes[at % length] ^= flip;
            // Digits may be written in capitals: that damages nothing.
            let read = split(&bytes);
            prop_assert!(read.is_none() || read == Some((json.as_bytes(), more.as_bytes())));
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = split(&bytes);
        }
    }
}
