//! Integer arithmetic to draw with: sines, noise, colours. No floating point, so every machine draws the same bytes.
//!
//! Lengths are in sixteenths of a pixel ([`ONE`]), angles in 1024ths of a turn, factors in 256ths.

/// One pixel.
pub const ONE: i32 = 16;
/// A whole turn.
pub const TURN: i32 = 1024;
/// The factor 1 of sines.
pub const UNIT: i32 = 4096;

/// A colour; the channels may leave 0..=255 while it is worked on.
pub type Rgb = [i32; 3];

/// Sine of `angle`, times [`UNIT`]: Bhaskara's rational approximation, off by at most 0.0017.
pub fn sin(angle: i32) -> i32 {
    const HALF: i32 = TURN / 2;
    let a = angle.rem_euclid(TURN);
    let t = a % HALF;
    let p = t * (HALF - t);
    let s = (16 * p * (UNIT / 16)) / ((5 * HALF * HALF - 4 * p) / 16);
    if a < HALF { s } else { -s }
}

/// Cosine of `angle`, times [`UNIT`].
pub fn cos(angle: i32) -> i32 {
    sin(angle + TURN / 4)
}

/// (`x`, `y`) turned by `angle` (clockwise on the screen, whose y points down).
pub fn turn(x: i32, y: i32, angle: i32) -> (i32, i32) {
    let (s, c) = (sin(angle), cos(angle));
    ((x * c - y * s) / UNIT, (x * s + y * c) / UNIT)
}

/// `a` where `t` is 0, `b` where it is 256; `t` is held to that range.
pub fn mix(a: Rgb, b: Rgb, t: i32) -> Rgb {
    let t = t.clamp(0, 256);
    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * t / 256)
}

/// `c` times `factor` 256ths.
pub fn lit(c: Rgb, factor: i32) -> Rgb {
    c.map(|v| v * factor / 256)
}

/// 0 below `from`, 256 above `to`, smooth between.
pub fn step(from: i32, to: i32, v: i32) -> i32 {
    let t = ((v - from) * 256 / (to - from)).clamp(0, 256);
    t * t * (768 - 2 * t) / 65_536
}

/// Whether (`x`, `y`) lies in the ellipse with half axes `a` and `b` around the origin; at most 0 inside.
/// The value grows from -256 at the centre through 0 on the border.
pub fn ellipse(x: i32, y: i32, a: i32, b: i32) -> i32 {
    let (u, v) = (x * 256 / a, y * 256 / b);
    if u.abs() > 4096 || v.abs() > 4096 { i32::MAX } else { (u * u + v * v) / 256 - 256 }
}

/// A number of 0..=255 that depends on nothing but the place and the seed.
fn lattice(x: i32, y: i32, seed: u32) -> i32 {
    let mut h = (x as u32).wrapping_mul(0x9e37_79b1)
        ^ (y as u32).wrapping_mul(0x85eb_ca77)
        ^ seed.wrapping_mul(0xc2b2_ae3d);
    h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
    h = (h ^ (h >> 12)).wrapping_mul(0x297a_2d39);
    ((h ^ (h >> 15)) & 255) as i32
}

/// Smooth noise of 0..=255 whose bumps are `1 << cell` units wide (`cell` at most 12).
pub fn noise(x: i32, y: i32, cell: u32, seed: u32) -> i32 {
    let (xi, yi) = (x >> cell, y >> cell);
    let smooth = |v: i32| {
        let t = ((v & ((1 << cell) - 1)) << 8) >> cell;
        t * t * (768 - 2 * t) / 65_536
    };
    let (fx, fy) = (smooth(x), smooth(y));
    let row = |y| {
        let (a, b) = (lattice(xi, y, seed), lattice(xi + 1, y, seed));
        a * 256 + (b - a) * fx
    };
    let (top, bottom) = (row(yi), row(yi + 1));
    (top * 256 + (bottom - top) * fy) >> 16
}

/// Noise of three sizes, each half as wide and half as strong as the one before: 0..=255, mean about 127.
pub fn clouds(x: i32, y: i32, cell: u32, seed: u32) -> i32 {
    (noise(x, y, cell, seed) * 4 + noise(x, y, cell - 1, seed + 1) * 2 + noise(x, y, cell - 2, seed + 2)) / 7
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sines_are_close() {
        for a in -2000..2000 {
            let exact = (f64::from(a) / f64::from(TURN) * std::f64::consts::TAU).sin() * f64::from(UNIT);
            assert!((f64::from(sin(a)) - exact).abs() < 10.0, "sin({a}) is {} instead of {exact}", sin(a));
        }
    }

    #[test]
    fn noise_has_no_seams() {
        for x in -600..600 {
            let step = noise(x + 1, 7, 6, 3) - noise(x, 7, 6, 3);
            assert!(step.abs() < 12, "a jump of {step} at {x}");
            assert!((0..=255).contains(&clouds(x, 2 * x, 7, 1)));
        }
    }
}
