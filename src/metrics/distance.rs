//! Exact distances to the border of a region.

use crate::base::Size;

/// For each pixel of `inside` (row-major, one byte a pixel) the squared distance in pixels to the nearest pixel that is
/// not inside; everything beyond the picture is not inside. 0 for pixels that are not inside themselves.
pub fn squared_distance_to_border(inside: &[bool], size: Size) -> Vec<u64> {
    let (width, height) = (size.width as usize, size.height as usize);
    let mut distance = column_distances(inside, width, height);
    let mut row = vec![0u64; width];
    let mut envelope = Envelope::default();
    for y in 0..height {
        let line = &mut distance[y * width..(y + 1) * width];
        row.copy_from_slice(line);
        envelope.minima(&row, line);
    }
    distance
}

/// Squared distance to the nearest outside pixel of the same column.
fn column_distances(inside: &[bool], width: usize, height: usize) -> Vec<u64> {
    let mut distance = vec![0u64; width * height];
    for x in 0..width {
        let mut run = 0u64;
        for y in 0..height {
            run = if inside[y * width + x] { run + 1 } else { 0 };
            distance[y * width + x] = run;
        }
        run = 0;
        for y in (0..height).rev() {
            let at = y * width + x;
            run = if inside[at] { run + 1 } else { 0 };
            distance[at] = distance[at].min(run).pow(2);
        }
    }
    distance
}

/// Lower envelope of the parabolas `(x - q)^2 + height(q)`, one for each pixel of a row and one of height 0 beyond each
/// end of it.
#[derive(Default)]
struct Envelope {
    /// Where the parabolas on the envelope have their tip, and how high it lies.
    tips: Vec<(i64, i64)>,
    /// From which x on each is the lowest.
    from: Vec<i64>,
}

impl Envelope {
    fn minima(&mut self, heights: &[u64], out: &mut [u64]) {
        self.tips.clear();
        self.from.clear();
        let row = (0i64..).zip(heights.iter().map(|&h| h as i64));
        let end = heights.len() as i64;
        for (q, height) in std::iter::once((-1, 0)).chain(row).chain([(end, 0)]) {
            let mut start = i64::MIN;
            while let Some(&(p, below)) = self.tips.last() {
                // First whole x at which the new parabola is lower than the last one of the envelope.
                let numerator = (height + q * q) - (below + p * p);
                start = numerator.div_euclid(2 * (q - p)) + 1;
                if start > self.from[self.from.len() - 1] {
                    break;
                }
                self.tips.pop();
                self.from.pop();
                start = i64::MIN;
            }
            self.tips.push((q, height));
            self.from.push(start);
        }
        let mut at = 0;
        for (x, out) in (0i64..).zip(out) {
            while at + 1 < self.tips.len() && self.from[at + 1] <= x {
                at += 1;
            }
            let (q, height) = self.tips[at];
            *out = ((x - q).pow(2) + height) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_hand(inside: &[bool], width: i64, height: i64) -> Vec<u64> {
        let outside =
            |x: i64, y: i64| x < 0 || y < 0 || x >= width || y >= height || !inside[(y * width + x) as usize];
        let nearest = |x: i64, y: i64| {
            let ring = (-1..=height).flat_map(|v| (-1..=width).map(move |u| (u, v)));
            ring.filter(|&(u, v)| outside(u, v)).map(|(u, v)| ((u - x).pow(2) + (v - y).pow(2)) as u64).min()
        };
        (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .map(|(x, y)| nearest(x, y).unwrap())
            .collect()
    }

    proptest! {
        #[test]
        fn is_exact(width in 1u32..14, height in 1u32..14, seed in any::<u64>(), dense in 1u32..9) {
            let inside: Vec<bool> = (0..u64::from(width * height))
                .map(|i| (i + 1).wrapping_mul(seed | 1).rotate_left(29) % 9 < u64::from(dense))
                .collect();
            let distance = squared_distance_to_border(&inside, Size::new(width, height));
            prop_assert_eq!(distance, by_hand(&inside, width.into(), height.into()));
        }
    }
}
