//! Connected parts of a mask, and of its background.

use super::inverted;
use crate::base::Mask;

/// One connected part.
struct Part {
    /// Offsets of its pixels.
    pixels: Vec<usize>,
    /// Whether it reaches the picture's border.
    at_border: bool,
}

/// The parts of `mask`. Pixels that touch at a corner are connected if `corners`: of object and background only one may
/// count corners, else a diagonal line would have holes through it.
fn parts(mask: &Mask, neighbours: &[(i64, i64)]) -> Vec<Part> {
    let (width, height) = (i64::from(mask.size().width), i64::from(mask.size().height));
    let mut open: Vec<bool> = mask.data().iter().map(|&v| v != 0).collect();
    let mut parts = Vec::new();
    for start in 0..open.len() {
        if !std::mem::take(&mut open[start]) {
            continue;
        }
        let mut part = Part { pixels: vec![start], at_border: false };
        let mut next = 0;
        while let Some(&at) = part.pixels.get(next) {
            next += 1;
            let (x, y) = (at as i64 % width, at as i64 / width);
            part.at_border |= x == 0 || y == 0 || x == width - 1 || y == height - 1;
            for (dx, dy) in neighbours {
                let (nx, ny) = (x + dx, y + dy);
                if nx < 0 || ny < 0 || nx >= width || ny >= height {
                    continue;
                }
                let neighbour = (ny * width + nx) as usize;
                if std::mem::take(&mut open[neighbour]) {
                    part.pixels.push(neighbour);
                }
            }
        }
        parts.push(part);
    }
    parts
}

const SIDES: [(i64, i64); 4] = [(-1, 0), (1, 0), (0, -1), (0, 1)];
const SIDES_AND_CORNERS: [(i64, i64); 8] =
    [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1)];

/// Fills background that does not reach the border and has at most `most` pixels.
pub(super) fn fill_holes(mask: &Mask, most: u32) -> Mask {
    let mut data = mask.data().to_vec();
    // The object counts corners, so the background must not.
    for hole in parts(&inverted(mask), &SIDES) {
        if !hole.at_border && hole.pixels.len() <= most as usize {
            hole.pixels.iter().for_each(|&at| data[at] = 1);
        }
    }
    Mask::new(mask.size(), data).expect("the size is the same")
}

/// Drops parts of fewer than `least` pixels, but for the largest.
pub(super) fn drop_islands(mask: &Mask, least: u32) -> Mask {
    let mut data = mask.data().to_vec();
    let mut parts = parts(mask, &SIDES_AND_CORNERS);
    parts.sort_by_key(|part| std::cmp::Reverse(part.pixels.len()));
    for part in parts.iter().skip(1).filter(|part| part.pixels.len() < least as usize) {
        part.pixels.iter().for_each(|&at| data[at] = 0);
    }
    Mask::new(mask.size(), data).expect("the size is the same")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Size;

    fn mask(rows: &[&str]) -> Mask {
        let size = Size::new(rows[0].len() as u32, rows.len() as u32);
        let data = rows.concat().bytes().map(|b| u8::from(b == b'#')).collect();
        Mask::new(size, data).unwrap()
    }

    #[test]
    fn holes_are_filled_up_to_their_size_and_bays_are_not() {
        let given = mask(&["#######", "#.#..#.", "#######", "##.####"]);
        assert_eq!(fill_holes(&given, 1), mask(&["#######", "###..#.", "#######", "##.####"]));
        assert_eq!(fill_holes(&given, 2), mask(&["#######", "######.", "#######", "##.####"]));
    }

    #[test]
    fn a_hole_within_a_diagonal_ring_is_a_hole() {
        assert_eq!(fill_holes(&mask(&[".....", "..#..", ".#.#.", "..#..", "....."]), 9).area(), 5);
    }

    #[test]
    fn islands_go_and_the_largest_part_stays() {
        let given = mask(&["##...#", "##....", "....##"]);
        assert_eq!(drop_islands(&given, 2), mask(&["##....", "##....", "....##"]));
        assert_eq!(drop_islands(&given, 100), mask(&["##....", "##....", "......"]));
        assert_eq!(drop_islands(&Mask::empty(Size::new(3, 3)), 5).area(), 0);
    }
}
