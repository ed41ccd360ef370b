//! What the camera pans over: sky, hills, a meadow and a road, and the lamp post in front of everything.

use super::fixed::{ONE, Rgb, clouds, lit, mix, noise, step};

/// Row of the horizon, in pixels.
const HORIZON: i32 = 158;
/// The road's far and near edge, in pixels.
const ROAD: (i32, i32) = (246, 322);
/// What the camera pans a frame at the depth where ground and screen have one scale, in units.
const PAN: i32 = 26;

/// Colour of the background behind all objects at pixel (`x`, `y`) of frame `n`.
pub fn colour(x: i32, y: i32, n: i32) -> Rgb {
    let ridge = HORIZON - 12 - (clouds(x * ONE + PAN * n / 6 + 9000, 0, 11, 40) - 100) * 38 / 256;
    if y >= HORIZON {
        ground(x, y, n)
    } else if y >= ridge {
        hills(x, y, y - ridge, n)
    } else {
        sky(x, y, n)
    }
}

fn sky(x: i32, y: i32, n: i32) -> Rgb {
    let blue = mix([92, 148, 214], [196, 220, 236], y * 256 / HORIZON);
    let cloud = clouds(x * ONE / 2 + PAN * n / 10, y * ONE, 10, 11);
    mix(blue, [246, 246, 244], step(132, 200, cloud) * 220 / 256)
}

/// Woods on the hills: `below` pixels under the ridge.
fn hills(x: i32, y: i32, below: i32, n: i32) -> Rgb {
    let (u, v) = (x * ONE + PAN * n / 6, y * ONE);
    let trees = clouds(u, v * 2, 7, 21);
    let base = mix([86, 122, 118], [70, 110, 74], below * 9);
    lit(base, 190 + trees * 100 / 256)
}

fn ground(x: i32, y: i32, n: i32) -> Rgb {
    let s = y - HORIZON + 6;
    // The place on the ground under this pixel: rows nearer to the horizon cover more of it.
    let u = ((x - 320) * 100 * ONE) / s + PAN * n;
    let v = 100 * 100 * ONE / s;
    // Far away the pattern is finer than a pixel: it fades instead of flickering.
    let near = (s * 4).min(256);
    if y < ROAD.0 || y >= ROAD.1 {
        let coarse = clouds(u, v * 2, 10, 31) - 127;
        let fine = clouds(u * 2, v, 6, 33) - 127;
        let base = mix([136, 166, 88], [84, 132, 52], s * 2);
        let verge = (y - ROAD.1).max(ROAD.0 - y);
        let grass = lit(base, 256 + (coarse / 2 + fine * 2 / 3) * near / 256);
        return if verge < 4 { mix([150, 140, 116], grass, verge * 64) } else { grass };
    }
    let grain = noise(u * 2, v * 4, 5, 35) - 127;
    let patch = clouds(u, v, 9, 36) - 127;
    let asphalt = lit([104, 104, 110], 256 + grain / 5 + patch / 5);
    let line = y - 280;
    let dash = u.rem_euclid(150 * ONE) < 70 * ONE;
    if (0..4).contains(&line) && dash { mix([222, 220, 206], asphalt, 30 + grain.abs() / 2) } else { asphalt }
}

/// Colour of the lamp post at (`x`, `y`) (units) of frame `n`, or `None` beside it. It hides what is behind it.
pub fn post(x: i32, y: i32, n: i32) -> Option<Rgb> {
    let along = x + PAN * 4 * n - 760 * ONE;
    let half = if y > 318 * ONE { 9 * ONE } else { 5 * ONE };
    if along.abs() > half || !(20 * ONE..=346 * ONE).contains(&y) {
        return None;
    }
    let round = 256 - (along * along) / (half * half / 200).max(1);
    Some(lit([72, 84, 80], round + 40))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_a_colour_in_range() {
        for n in [0, 40, 95] {
            for y in 0..360 {
                for x in (0..640).step_by(7) {
                    let c = colour(x, y, n);
                    assert!(c.iter().all(|v| (-8..=400).contains(v)), "{c:?} at ({x}, {y}) of frame {n}");
                }
            }
        }
    }
}
