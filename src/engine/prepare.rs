//! Resizing and normalising a picture on the device: its bytes go up, the rest happens there. It is Pillow's filter as
//! matrix products, rounded to bytes after each pass as Pillow does.
//!
//! Devices multiply with 11 significant bits or more, which a byte fits in and a weight does not: a weight is the sum of two
//! that do. What is left are sums that lie so close to the middle of two bytes that f32 rounds them the other way.

use std::sync::Arc;

use super::resample::{Normalisation, Pass, filters, passes};
use crate::base::{RgbFrame, Size};
use crate::ggml::{Backend, Builder, GgmlError, Graph, Kind, Store, StoreBuilder, Tensor, Workspace};

/// Prepares pictures of one size.
pub(super) struct Prepare {
    picture: Size,
    graph: Graph,
    bytes: Tensor,
    scratch: Workspace,
}

impl Prepare {
    /// For pictures of `picture` pixels; the result goes to `pixels` `[side, side, 3]` of `slot`.
    pub(super) fn new(
        backend: &Backend,
        slot: &Arc<Store>,
        picture: Size,
        side: u32,
        how: &Normalisation,
    ) -> Result<Self, GgmlError> {
        let constants = Arc::new(constants(backend, picture, side, how)?);
        let mut graph = Builder::new()?;
        let (width, height, side) = (i64::from(picture.width), i64::from(picture.height), i64::from(side));
        let bytes = graph.bytes(3 * picture.area());
        let x = graph.to_f32(bytes);
        let x = graph.slice(x, 0, 0, 3 * width * height);
        let x = graph.reshape(x, [3, width * height, 1, 1]);
        let x = turn(&mut graph, x);
        let mut x = graph.reshape(x, [width, height, 3, 1]);
        x = graph.scale_bias(x, 1.0, f32::from(BYTES_MIDDLE));
        for pass in passes(picture, side as u32) {
            x = match pass {
                Pass::Across => filter(&mut graph, &constants, ["across", "across_rest"], x),
                Pass::Down => {
                    let turned = turn(&mut graph, x);
                    let turned = filter(&mut graph, &constants, ["down", "down_rest"], turned);
                    turn(&mut graph, turned)
                }
            };
        }
        let gain = resident(&mut graph, &constants, "gain");
        let shift = resident(&mut graph, &constants, "shift");
        let x = graph.mul(x, gain);
        let x = graph.add(x, shift);
        let target = resident(&mut graph, slot, "pixels");
        graph.write(x, target);
        let mut graph = graph.finish();
        graph.check(backend)?;
        let mut scratch = Workspace::new(backend)?;
        let _ = scratch.begin(&mut graph)?;
        Ok(Self { picture, graph, bytes, scratch })
    }

    /// The size that it is for.
    pub(super) fn size(&self) -> Size {
        self.picture
    }

    /// Prepares `picture`, which must have [`Self::size`].
    pub(super) fn run(&mut self, picture: &RgbFrame) -> Result<(), GgmlError> {
        let mut run = self.scratch.begin(&mut self.graph)?;
        run.set_bytes(self.bytes, picture.data());
        run.compute()
    }
}

/// What is subtracted from bytes on their way up, so that they fit a signed one.
const BYTES_MIDDLE: u8 = 128;

fn resident(graph: &mut Builder, store: &Arc<Store>, name: &str) -> Tensor {
    graph.resident(store, name).expect("made together with the graph")
}

/// `[W, H, 3]` to `[H, W, 3]`.
fn turn(graph: &mut Builder, x: Tensor) -> Tensor {
    let x = graph.transpose(x);
    graph.cont(x)
}

/// Filters the fastest dimension with the sum of two matrices and rounds to bytes.
fn filter(graph: &mut Builder, constants: &Arc<Store>, names: [&str; 2], x: Tensor) -> Tensor {
    let [_, rows, channels, _] = graph.shape(x);
    let [main, rest] = names.map(|name| {
        let weights = resident(graph, constants, name);
        graph.mul_mat(weights, x)
    });
    let y = graph.add(main, rest);
    let y = graph.scale_bias(y, 1.0, 0.5);
    let y = graph.floor(y);
    let y = graph.clamp(y, 0.0, 255.0);
    let [side, ..] = graph.shape(y);
    graph.reshape(y, [side, rows, channels, 1])
}

fn constants(backend: &Backend, picture: Size, side: u32, how: &Normalisation) -> Result<Store, GgmlError> {
    let out = i64::from(side);
    let mut wanted = StoreBuilder::new();
    let passes = passes(picture, side);
    let mut filled = Vec::new();
    for pass in passes {
        let (names, input) = match pass {
            Pass::Across => (["across", "across_rest"], picture.width),
            Pass::Down => (["down", "down_rest"], picture.height),
        };
        let weights = filters(input as usize, side as usize);
        for (name, values) in names.into_iter().zip(weights) {
            wanted.add(name, Kind::F32, [i64::from(input), out, 1, 1]);
            filled.push((name, values));
        }
    }
    wanted.add("gain", Kind::F32, [1, 1, 3, 1]);
    wanted.add("shift", Kind::F32, [1, 1, 3, 1]);
    filled.push(("gain", how.std.iter().map(|std| 1.0 / (255.0 * std)).collect()));
    filled.push(("shift", how.mean.iter().zip(how.std).map(|(mean, std)| -mean / std).collect()));
    let mut store = wanted.allocate(backend)?;
    for (name, values) in filled {
        assert!(store.set_f32(name, &values), "the filters have the shapes of their tensors");
    }
    Ok(store)
}

#[cfg(test)]
mod tests {
    use super::super::resample::{Interpolation, Preprocessor};
    use super::*;

    #[test]
    fn it_is_the_processors_preparation() {
        let backend = Backend::cpu(1).expect("there is a processor");
        let (side, how) = (64, Normalisation::default());
        let mut wanted = StoreBuilder::new();
        wanted.add("pixels", Kind::F32, [64, 64, 3, 1]);
        let slot = Arc::new(wanted.allocate(&backend).expect("a few bytes"));
        for size in
            [Size::new(37, 91), Size::new(160, 90), Size::new(64, 64), Size::new(64, 20), Size::new(70, 300)]
        {
            let data: Vec<u8> =
                (0..size.area() * 3).map(|i| ((i * 7919) ^ (i / 3 * 104_729)).to_le_bytes()[1]).collect();
            let picture = RgbFrame::new(size, data).expect("as many bytes as it says");
            let mut expected = Vec::new();
            Preprocessor::new(side, Interpolation::VideoBicubicU8, how, 1).run(&picture, &mut expected);
            let mut prepare = Prepare::new(&backend, &slot, size, side, &how).expect("it can be built");
            prepare.run(&picture).expect("it runs");
            let found = slot.get_f32("pixels").expect("it is there");
            let far = found.iter().zip(&expected).filter(|(a, b)| (*a - *b).abs() > 1e-4).count();
            assert!(far * 1000 <= found.len(), "{size:?}: {far} of {} differ", found.len());
            let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < 1.01 / 255.0 / 0.224, "{size:?}: {worst} is more than a step");
        }
    }
}
