//! Every float kernel at every level that this processor can run, against the definition in f64.

use super::*;
use proptest::prelude::*;

fn noise(seed: u64, length: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..length).map(|_| next()).collect()
}

/// erf by its series, good to 1e-13 for |x| <= 5.
fn erf(x: f64) -> f64 {
    if x.abs() > 5.0 {
        return x.signum();
    }
    let (mut term, mut sum, mut n) = (x, x, 0.0);
    while term.abs() > 1e-17 * sum.abs() {
        n += 1.0;
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

fn gelu(x: f64) -> f64 {
    x * (1.0 + erf(x / std::f64::consts::SQRT_2)) / 2.0
}

/// Fails when `found` is further than `bound` from `expected` anywhere.
fn close(found: &[f32], expected: &[f64], bound: f64) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.len(), expected.len());
    for (i, (&f, &e)) in found.iter().zip(expected).enumerate() {
        prop_assert!((f64::from(f) - e).abs() <= bound, "at {}: {} instead of {}", i, f, e);
    }
    Ok(())
}

/// Runs `kernel` in `parts` parts at every level.
fn everywhere(
    length: usize,
    parts: usize,
    kernel: impl Fn(Level, Output<'_>, Part),
    mut check: impl FnMut(&[f32]) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    for level in Level::usable() {
        let mut out = vec![f32::NAN; length];
        for index in 0..parts {
            kernel(level, Output::new(&mut out), Part { index, count: parts });
        }
        check(&out)?;
    }
    Ok(())
}

#[test]
fn gelu_is_exact_enough_everywhere() {
    let x: Vec<f32> = (-120_000..=120_000).map(|i| i as f32 * 1e-4).chain([-1e30, 1e30, -0.0]).collect();
    let expected: Vec<f64> = x.iter().map(|&x| gelu(f64::from(x))).collect();
    let panels = Panels::pack(&[1.0], &[], 1);
    let layer = Layer {
        panels: &panels,
        activation: Activation::Gelu,
        added: Added::Nothing,
        placement: Placement::Rows,
    };
    let input = Input::Rows { data: &x, stride: 1, count: x.len() };
    for level in Level::usable() {
        let mut out = vec![0.0; x.len()];
        linear(level, &layer, &input, Output::new(&mut out), Part::WHOLE);
        for ((&x, &e), &f) in x.iter().zip(&expected).zip(&out) {
            let bound = 1.5e-6f64.max(f64::from(x).abs() * 1e-7);
            assert!((f64::from(f) - e).abs() <= bound, "{level:?}: gelu({x}) = {f} instead of {e}");
        }
    }
}

#[test]
fn parts_cover_everything_once() {
    for (total, grain, count) in [(0, 8, 3), (1, 8, 2), (100, 8, 3), (64, 16, 4), (7, 1, 9)] {
        let mut next = 0;
        for index in 0..count {
            let range = Part { index, count }.of(total, grain);
            assert_eq!(range.start, next);
            next = range.end;
        }
        assert_eq!(next, total);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn linear_is_the_definition(
        inputs in 1usize..90, outputs in 1usize..90, count in 1usize..40, gap in 0usize..5, parts in 1usize..4,
        activation in prop_oneof![Just(Activation::None), Just(Activation::Relu), Just(Activation::Gelu)],
        bias: bool, adding in 0usize..3,
    ) {
        let weight = noise(1, inputs * outputs);
        let bias = if bias { noise(2, outputs) } else { vec![] };
        let x = noise(3, count * (inputs + gap));
        let more = noise(4, count * outputs);
        let added = [Added::Nothing, Added::Before(&more), Added::After(&more)][adding];
        let mut expected = Vec::new();
        for row in 0..count {
            for o in 0..outputs {
                let products = (0..inputs)
                    .map(|i| f64::from(weight[o * inputs + i]) * f64::from(x[row * (inputs + gap) + i]));
                let mut y = products.sum::<f64>() + bias.get(o).map_or(0.0, |&b| f64::from(b));
                let extra = f64::from(more[row * outputs + o]);
                if adding == 1 { y += extra; }
                y = match activation {
                    Activation::None => y,
                    Activation::Relu => y.max(0.0),
                    Activation::Gelu => gelu(y),
                };
                if adding == 2 { y += extra; }
                expected.push(y);
            }
        }
        let panels = Panels::pack(&weight, &bias, inputs);
        let layer = Layer { panels: &panels, activation, added, placement: Placement::Rows };
        let input = Input::Rows { data: &x, stride: inputs + gap, count };
        everywhere(expected.len(), parts,
            |level, out, part| linear(level, &layer, &input, out, part),
            |out| close(out, &expected, 3e-5))?;
    }

    #[test]
    fn convolution_is_the_definition(
        channels in 1usize..20, outputs in 1usize..50, width in 3usize..14, height in 3usize..14,
        side in prop_oneof![Just(1usize), Just(3)], step in 1usize..3, pad in 0usize..2, planar: bool, parts in 1usize..4,
    ) {
        let x = noise(5, width * height * channels);
        let weight = noise(6, outputs * side * side * channels);
        let strides = if planar { [width * height, 1] } else { [1, channels] };
        let patches = Patches { data: &x, size: [width, height], channels, strides, side, step, pad };
        let [wide, high] = patches.result();
        let mut expected = Vec::new();
        for y in 0..high { for px in 0..wide { for o in 0..outputs {
            let mut sum = 0.0;
            for ky in 0..side { for kx in 0..side { for c in 0..channels {
                let (iy, ix) = ((y * step + ky).wrapping_sub(pad), (px * step + kx).wrapping_sub(pad));
                if iy < height && ix < width {
                    let w = weight[((o * side + ky) * side + kx) * channels + c];
                    sum += f64::from(w) * f64::from(x[c * strides[0] + (iy * width + ix) * strides[1]]);
                }
            }}}
            expected.push(sum);
        }}}
        let panels = Panels::pack(&weight, &[], side * side * channels);
        let layer = Layer { panels: &panels, activation: Activation::None, added: Added::Nothing, placement: Placement::Rows };
        everywhere(expected.len(), parts,
            |level, out, part| linear(level, &layer, &Input::Patches(patches), out, part),
            |out| close(out, &expected, 3e-5))?;
    }

    #[test]
    fn doubling_puts_four_pixels_in_place(width in 1usize..9, height in 1usize..9, wide: bool, parts in 1usize..4) {
        let (inputs, channels) = (7, if wide { 64 } else { 32 });
        let (weight, bias) = (noise(7, 4 * channels * inputs), noise(8, 4 * channels));
        let x = noise(9, width * height * inputs);
        let more = noise(10, 4 * width * height * channels);
        let mut expected = Vec::new();
        for y in 0..2 * height { for px in 0..2 * width { for c in 0..channels {
            let o = ((y % 2) * 2 + px % 2) * channels + c;
            let row = y / 2 * width + px / 2;
            let products = (0..inputs).map(|i| f64::from(weight[o * inputs + i]) * f64::from(x[row * inputs + i]));
            let extra = f64::from(more[(y * 2 * width + px) * channels + c]);
            expected.push(gelu(products.sum::<f64>() + f64::from(bias[o]) + extra));
        }}}
        let panels = Panels::pack(&weight, &bias, inputs);
        let layer = Layer {
            panels: &panels, activation: Activation::Gelu, added: Added::Before(&more), placement: Placement::Doubled(width),
        };
        let input = Input::Rows { data: &x, stride: inputs, count: width * height };
        everywhere(expected.len(), parts,
            |level, out, part| linear(level, &layer, &input, out, part),
            |out| close(out, &expected, 1e-5))?;
    }

    #[test]
    fn depthwise_is_the_definition(
        channels in 1usize..40, width in 1usize..14, height in 1usize..14, big: bool, step in 1usize..3, parts in 1usize..4,
    ) {
        let (side, pad) = if big { (7, 3) } else { (3, 1) };
        let (x, kernel) = (noise(11, width * height * channels), noise(12, side * side * channels));
        let bias = noise(13, channels);
        let layer = Depthwise { kernel: &kernel, bias: &bias, size: [width, height], side, step, pad };
        let [wide, high] = layer.result();
        let mut expected = Vec::new();
        for y in 0..high { for px in 0..wide { for c in 0..channels {
            let mut sum = f64::from(bias[c]);
            for ky in 0..side { for kx in 0..side {
                let (iy, ix) = ((y * step + ky).wrapping_sub(pad), (px * step + kx).wrapping_sub(pad));
                if iy < height && ix < width {
                    sum += f64::from(kernel[(ky * side + kx) * channels + c]) * f64::from(x[(iy * width + ix) * channels + c]);
                }
            }}
            expected.push(sum);
        }}}
        everywhere(expected.len(), parts,
            |level, out, part| depthwise(level, &layer, &x, out, part),
            |out| close(out, &expected, 1e-5))?;
    }

    #[test]
    fn norm_gate_and_means_are_the_definition(channels in 1usize..70, rows in 1usize..200, parts in 1usize..4, activate: bool) {
        let x: Vec<f32> = noise(14, rows * channels).iter().map(|x| x + 3.0).collect();
        let (weight, bias) = (noise(15, channels), noise(16, channels));
        let mut expected = Vec::new();
        for row in x.chunks(channels) {
            let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / channels as f64;
            let variance = row.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / channels as f64;
            for c in 0..channels {
                let y = (f64::from(row[c]) - mean) / (variance + 1e-3).sqrt() * f64::from(weight[c]) + f64::from(bias[c]);
                expected.push(if activate { gelu(y) } else { y });
            }
        }
        let layer = Norm { weight: &weight, bias: &bias, eps: 1e-3, gelu: activate };
        everywhere(x.len(), parts, |level, out, part| norm(level, &layer, &x, out, part), |out| close(out, &expected, 3e-5))?;

        let gated: Vec<f64> = x.iter().enumerate().map(|(i, &x)| f64::from(x * weight[i % channels])).collect();
        everywhere(x.len(), parts, |level, out, part| scale_channels(level, &weight, &x, out, part), |out| close(out, &gated, 1e-6))?;

        let mean = |c: usize| x.iter().skip(c).step_by(channels).map(|&x| f64::from(x)).sum::<f64>() / rows as f64;
        let means: Vec<f64> = (0..channels).map(mean).collect();
        everywhere(channels, parts, |level, out, part| channel_means(level, channels, &x, out, part), |out| close(out, &means, 3e-6))?;
    }

    #[test]
    fn attention_is_the_definition(
        panels in 1usize..4, queries in 1usize..150, count in 1usize..300, gap in 0usize..9, parts in 1usize..4, sharp: bool,
    ) {
        let width = 32 * panels;
        let stride = width + gap;
        let scale = if sharp { 12.0 } else { 1.0 };
        let q: Vec<f32> = noise(17, queries * stride).iter().map(|x| x * scale).collect();
        let (k, v) = (noise(18, count * stride), noise(19, count * stride));
        let mut expected = Vec::new();
        for query in 0..queries {
            let score = |key: usize| (0..width).map(|i| f64::from(q[query * stride + i]) * f64::from(k[key * stride + i])).sum::<f64>()
                / (width as f64).sqrt();
            let scores: Vec<f64> = (0..count).map(score).collect();
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores.iter().map(|s| (s - most).exp()).collect();
            let total: f64 = weights.iter().sum();
            for i in 0..width {
                let sum: f64 = weights.iter().enumerate().map(|(key, w)| w * f64::from(v[key * stride + i])).sum();
                expected.push(sum / total);
            }
        }
        let rows = |data, count| Rows { data, stride, count };
        let (mut keys, mut values) = (vec![f32::NAN; packed_keys(count, width)], vec![f32::NAN; count * width]);
        for index in 0..parts {
            pack_keys(rows(&k, count), width, Output::new(&mut keys), Part { index, count: parts });
            pack_values(rows(&v, count), width, Output::new(&mut values), Part { index, count: parts });
        }
        everywhere(expected.len(), parts,
            |level, out, part| attention(level, width, rows(&q, queries), (&keys, &values, count), out, part),
            |out| close(out, &expected, if sharp { 4e-5 } else { 1e-5 }))?;
    }
    #[test]
    fn heads_attend_as_single_heads_do(
        heads in 1usize..4, wide: bool, queries in 1usize..30, count in 1usize..60, gap in 0usize..9, parts in 1usize..4,
    ) {
        let depth = if wide { 32 } else { 16 };
        let (width, stride) = (heads * depth, heads * depth + gap);
        let q: Vec<f32> = noise(20, queries * stride).iter().map(|x| x * 3.0).collect();
        let (k, v) = (noise(21, count * stride), noise(22, count * stride));
        let mut expected = vec![0.0; queries * width];
        for query in 0..queries { for head in 0..heads {
            let at = |row: usize, i: usize| row * stride + head * depth + i;
            let score = |key: usize| (0..depth).map(|i| f64::from(q[at(query, i)]) * f64::from(k[at(key, i)])).sum::<f64>()
                / (depth as f64).sqrt();
            let weights: Vec<f64> = (0..count).map(|key| score(key).exp()).collect();
            for i in 0..depth {
                let sum: f64 = weights.iter().enumerate().map(|(key, w)| w * f64::from(v[at(key, i)])).sum();
                expected[query * width + head * depth + i] = sum / weights.iter().sum::<f64>();
            }
        }}
        let rows = |data, count| Rows { data, stride, count };
        let all = [rows(&q, queries), rows(&k, count), rows(&v, count)];
        everywhere(expected.len(), parts,
            |level, out, part| heads_attention(level, (heads, width), all, out, part),
            |out| close(out, &expected, 1e-5))?;
    }

    #[test]
    fn rotation_is_the_definition(quarter in 1usize..20, rows in 1usize..20, gap in 0usize..5, parts in 1usize..4) {
        let (width, base) = (4 * quarter, 10_000f32);
        let x = noise(23, rows * (width + gap));
        let positions: Vec<i32> = (0..2 * rows as i32).map(|i| (i * 37) % 200 - 5).collect();
        let mut expected = Vec::new();
        for row in 0..rows { for i in 0..width {
            let (half, pair) = (i / (2 * quarter), i % (2 * quarter) / 2);
            let turn = f64::from(positions[2 * row + half]) * f64::from(base).powf(-2.0 * pair as f64 / (width / 2) as f64);
            let [a, b] = [0, 1].map(|k| f64::from(x[row * (width + gap) + i / 2 * 2 + k]));
            expected.push(if i % 2 == 0 { a * turn.cos() - b * turn.sin() } else { a * turn.sin() + b * turn.cos() });
        }}
        let angles = Angles::new(width, base);
        let mut out = vec![f32::NAN; expected.len()];
        for index in 0..parts {
            let rows = Rows { data: &x, stride: width + gap, count: rows };
            rotate(&angles, rows, &positions, Output::new(&mut out), Part { index, count: parts });
        }
        close(&out, &expected, 1e-6)?;
    }
}
