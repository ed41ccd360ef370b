//! Label Studio's run lengths of brush masks: a bit stream over the bytes of an RGBA picture.
//!
//! Head: number of bytes (32 bits), bits of a value - 1 (5), then four sizes - 1 (4 bits each). Blocks: one bit that says
//! "run", two bits that choose one of the sizes, the length - 1 in that size, then the value once (a run) or as often as
//! the length says (no run).

use crate::base::{Mask, Size};

/// Bits that a length may have, shortest first.
const SIZES: [u32; 4] = [3, 4, 8, 16];
/// Bits of a value.
const WORD: u32 = 8;
/// Bytes of a pixel.
const CHANNELS: u64 = 4;

/// Bits, high first, gathered to bytes.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn put(&mut self, value: u32, bits: u32) {
        for place in (0..bits).rev() {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let last = self.bytes.last_mut().expect("a byte was just added");
            *last |= ((value >> place & 1) as u8) << (7 - self.used % 8);
            self.used += 1;
        }
    }
}

/// The bytes for `mask`; `None` for a picture of more pixels than the format can count.
pub fn encode(mask: &Mask) -> Option<Vec<u8>> {
    let total = u32::try_from(mask.size().area() as u64 * CHANNELS).ok()?;
    let mut bits = Bits::default();
    bits.put(total, 32);
    bits.put(WORD - 1, 5);
    SIZES.iter().for_each(|size| bits.put(size - 1, 4));
    let data = mask.data();
    let mut at = 0;
    while at < data.len() {
        let value = data[at];
        let length = data[at..].iter().take_while(|v| **v == value).count();
        at += length;
        let mut rest = length as u64 * CHANNELS;
        while rest > 0 {
            let run = rest.min(1 << SIZES[3]);
            let choice = SIZES.iter().position(|size| run <= 1 << size).unwrap_or(3);
            bits.put(1, 1);
            bits.put(choice as u32, 2);
            bits.put(run as u32 - 1, SIZES[choice]);
            bits.put(if value == 0 { 0 } else { 255 }, WORD);
            rest -= run;
        }
    }
    Some(bits.bytes)
}

/// The mask of `size` that `bytes` hold: where the alpha, each pixel's fourth byte, is above 0.
///
/// # Errors
/// In words: cut off, or for another size.
pub fn decode(bytes: &[u8], size: Size) -> Result<Mask, String> {
    let mut at = 0usize;
    let mut take = |bits: u32| -> Result<u32, String> {
        let mut value = 0u32;
        for _ in 0..bits {
            let byte = bytes.get(at / 8).ok_or("the run lengths are cut off")?;
            value = value << 1 | u32::from(byte >> (7 - at % 8) & 1);
            at += 1;
        }
        Ok(value)
    };
    let total = u64::from(take(32)?);
    let expected = size.area() as u64 * CHANNELS;
    if total != expected {
        return Err(format!("the run lengths are for {total} bytes but {size} pixels have {expected}"));
    }
    let word = take(5)? + 1;
    let sizes = [take(4)? + 1, take(4)? + 1, take(4)? + 1, take(4)? + 1];
    let mut data = vec![0u8; size.area()];
    let mut place = 0u64;
    let mut set = |place: u64, value: u32| {
        if place % CHANNELS == CHANNELS - 1 {
            data[(place / CHANNELS) as usize] = u8::from(value != 0);
        }
    };
    while place < total {
        let is_run = take(1)? == 1;
        let choice = take(2)? as usize;
        let length = u64::from(take(sizes[choice])?) + 1;
        if place + length > total {
            return Err("the run lengths go past the picture".into());
        }
        if is_run {
            let value = take(word)?;
            (place..place + length).for_each(|place| set(place, value));
        } else {
            for place in place..place + length {
                set(place, take(word)?);
            }
        }
        place += length;
    }
    Mask::new(size, data).ok_or_else(|| "the mask has another size".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn golden_vector() {
        // By hand: 12 bytes; 8-bit values; sizes 3 4 8 16; a run of 4 zeros (100 011 00000000), one of 8 times 255
        // (100 111 11111111), padded.
        let mask = Mask::new(Size::new(3, 1), vec![0, 1, 1]).unwrap();
        let bits = concat!(
            "00000000000000000000000000001100",
            "00111",
            "0010",
            "0011",
            "0111",
            "1111",
            "1",
            "00",
            "011",
            "00000000",
            "1",
            "00",
            "111",
            "11111111",
            "0000000"
        );
        let bytes: Vec<u8> =
            bits.as_bytes().chunks(8).map(|b| b.iter().fold(0, |v, b| v << 1 | (b - b'0'))).collect();
        assert_eq!(encode(&mask).unwrap(), bytes);
        assert_eq!(decode(&bytes, mask.size()), Ok(mask));
    }

    #[test]
    fn blocks_without_runs_are_read() {
        let mut bits = Bits::default();
        for (value, width) in [(4, 32), (7, 5), (2, 4), (3, 4), (7, 4), (15, 4), (0, 1), (0, 2), (3, 3)] {
            bits.put(value, width);
        }
        (1..=4).for_each(|value| bits.put(value, 8));
        assert_eq!(decode(&bits.bytes, Size::new(1, 1)).unwrap().area(), 1);
        assert!(decode(&bits.bytes, Size::new(1, 2)).unwrap_err().contains("8"));
        assert!(decode(&bits.bytes[..9], Size::new(1, 1)).unwrap_err().contains("cut off"));
    }

    proptest! {
        #[test]
        fn there_and_back(width in 1u32..300, height in 1u32..30, seed in any::<u64>(), run in 1u64..4000) {
            let size = Size::new(width, height);
            let data = (0..size.area() as u64).map(|i| u8::from((seed ^ (i / run)).wrapping_mul(0x9e37_79b9_7f4a).count_ones() % 2 == 0)).collect();
            let mask = Mask::new(size, data).expect("the size's length");
            prop_assert_eq!(decode(&encode(&mask).expect("small"), size), Ok(mask));
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut whole = 64u32.to_be_bytes().to_vec();
            whole.extend(bytes);
            let _ = decode(&whole, Size::new(4, 4));
        }
    }
}
