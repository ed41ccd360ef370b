//! The colours of labels, as PASCAL VOC and DAVIS have them.

/// Colour (R, G, B) of label `label`; 0 is black, the background.
///
/// The bits of the number are dealt out to red, green and blue in turn, filling each from its top bit down, so that
/// small numbers get colours that are far apart.
pub fn label_colour(label: u8) -> [u8; 3] {
    let mut rgb = [0u8; 3];
    for bit in 0..8 {
        if label >> bit & 1 != 0 {
            rgb[bit % 3] |= 0x80 >> (bit / 3);
        }
    }
    rgb
}

/// All 256 colours, R G B one after the other: 768 bytes.
pub fn palette() -> Vec<u8> {
    (0..=255).flat_map(label_colour).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_colours_are_those_of_pascal() {
        let first: Vec<_> = (0..9).map(label_colour).collect();
        assert_eq!(
            first,
            [
                [0, 0, 0],
                [128, 0, 0],
                [0, 128, 0],
                [128, 128, 0],
                [0, 0, 128],
                [128, 0, 128],
                [0, 128, 128],
                [128, 128, 128],
                [64, 0, 0]
            ]
        );
        assert_eq!(label_colour(255), [224, 224, 192]);
    }

    #[test]
    fn colours_differ() {
        let all: std::collections::HashSet<_> = palette().chunks(3).map(<[u8]>::to_vec).collect();
        assert_eq!(all.len(), 256);
    }
}
