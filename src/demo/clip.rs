//! The clip: who moves where, and what is asked of it.

use crate::base::{FrameIndex, Mask, Point, Rational, RgbFrame, Size};

use super::actors::{Ball, Bird, Car, Fish, bounce, sway};
use super::draw::{Layer, paint};
use super::fixed::{ONE, TURN};

/// An annotated object of the clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DemoObject {
    /// What it is called, e.g. "red car".
    pub name: &'static str,
    /// Its class, e.g. "car".
    pub class: &'static str,
    /// Clicks that mean it, on frame `first_frame`, in pixels. For a box take the truth's bounding box.
    pub clicks: &'static [Point],
    /// The first frame that shows it.
    pub first_frame: FrameIndex,
}

/// The demo clip: 96 frames of 640 x 360 at 24 frames a second, the same bytes on every machine.
///
/// Four objects on a panning landscape: a car, a ball that bounces past it, a kite whose body waves, and a bird that
/// leaves the picture and comes back. A second ball that looks like the first rolls behind them and is not annotated.
#[derive(Clone, Copy, Debug, Default)]
pub struct DemoClip;

// In this order the palette gives each object a colour that is not its own.
const OBJECTS: [DemoObject; 4] = [
    object("ball", "ball", &[at(560.0, 228.0)]),
    // A car is easily taken for its painted body: the clicks add glass and wheels.
    object("red car", "car", &[at(150.0, 276.0), at(154.0, 243.0), at(106.0, 289.0), at(224.0, 289.0)]),
    object("blue bird", "bird", &[at(450.0, 62.0), at(510.0, 62.0)]),
    object("carp kite", "kite", &[at(226.0, 112.0)]),
];

const fn at(x: f32, y: f32) -> Point {
    Point { x, y }
}

const fn object(name: &'static str, class: &'static str, clicks: &'static [Point]) -> DemoObject {
    DemoObject { name, class, clicks, first_frame: FrameIndex(0) }
}

impl DemoClip {
    /// Number of frames.
    pub const FRAMES: u32 = 96;
    /// Width and height in pixels.
    pub const SIZE: Size = Size::new(640, 360);
    /// Frames a second.
    pub const FRAME_RATE: Rational = Rational::new(24, 1);

    /// The annotated objects; their place in the list is their index in [`Self::truth`].
    pub fn objects() -> &'static [DemoObject] {
        &OBJECTS
    }

    /// Frame `n`; past the end the last one.
    pub fn frame(&self, n: FrameIndex) -> RgbFrame {
        self.draw(n).0
    }

    /// For each object of [`Self::objects`] its index and the pixels of frame `n` in which it is seen. An absent
    /// object has an empty mask. The masks have the picture's size and do not overlap.
    pub fn truth(&self, n: FrameIndex) -> Vec<(usize, Mask)> {
        self.draw(n).1.into_iter().enumerate().collect()
    }

    /// Frame `n` and the masks of all objects in the order of [`Self::objects`].
    pub fn draw(&self, n: FrameIndex) -> (RgbFrame, Vec<Mask>) {
        let n = n.0.min(Self::FRAMES - 1) as i32;
        paint(Self::SIZE, n, &layers(n), OBJECTS.len())
    }
}

/// Everybody on frame `n`, from back to front.
fn layers(n: i32) -> Vec<Layer> {
    let (ball, car, bird, kite) = (0, 1, 2, 3);
    let layer = |owner, actor| Layer { owner, actor };
    vec![
        layer(Some(kite), Box::new(fish(n))),
        layer(None, Box::new(twin(n))),
        layer(Some(car), Box::new(red_car(n))),
        layer(Some(ball), Box::new(bouncing(n))),
        layer(Some(bird), Box::new(blue_bird(n))),
    ]
}

fn fish(n: i32) -> Fish {
    Fish {
        x: sway(300 * ONE, -80 * ONE, n * 9),
        y: sway(98 * ONE, 22 * ONE, n * 17),
        tilt: sway(0, 40, n * 17 + 200),
        phase: n * 52,
    }
}

fn red_car(n: i32) -> Car {
    Car { x: (164 * ONE) + n * 44, y: 306 * ONE, spring: sway(ONE, ONE, n * 120), spin: n * 62 }
}

fn bouncing(n: i32) -> Ball {
    let (radius, floor) = (38 * ONE, 342 * ONE);
    let x = 560 * ONE - n * 62;
    let y = floor - radius - bounce(n + 10, 26, 84 * ONE);
    Ball { x, y, radius, spin: -n * 25, floor }
}

/// The ball that is not annotated.
fn twin(n: i32) -> Ball {
    let (radius, floor) = (36 * ONE, 264 * ONE);
    Ball { x: 348 * ONE + n * 13, y: floor - radius, radius, spin: TURN / 5 + n * 4, floor }
}

/// Leaves to the right by frame 28, comes back from frame 56 on.
fn blue_bird(n: i32) -> Bird {
    let back = n >= 42;
    let x = if back { 720 * ONE - (n - 56) * 128 } else { 460 * ONE + n * 144 };
    let y = sway(if back { 84 } else { 64 } * ONE, 10 * ONE, n * 40);
    Bird { x, y, left: back, beat: n * 76 + 200 }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    /// Of all frames, and of all masks, in order. A change of the clip changes every figure that was measured on it.
    const FRAMES_SHA256: &str = "5ddf7f7dc04e6ab03fcc5e17bd49acd6364d9c81cdea7b7f97878dd7c74cf56b";
    const MASKS_SHA256: &str = "4c19092b98505ff0e42ee80f9718e6c906679fb9fcc6f4aa60b1feff85c2e525";

    fn hex(hash: Sha256) -> String {
        hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn the_clip_is_the_same_bytes_everywhere() {
        let (mut frames, mut masks) = (Sha256::new(), Sha256::new());
        // How many pixels each object has on each frame.
        let mut areas = Vec::new();
        for n in 0..DemoClip::FRAMES {
            let (picture, truth) = DemoClip.draw(FrameIndex(n));
            frames.update(picture.data());
            truth.iter().for_each(|mask| masks.update(mask.data()));
            for at in 0..DemoClip::SIZE.area() {
                assert!(
                    truth.iter().filter(|m| m.data()[at] != 0).count() <= 1,
                    "masks overlap on frame {n}"
                );
            }
            areas.push(truth.iter().map(Mask::area).collect::<Vec<_>>());
        }
        assert_eq!((hex(frames).as_str(), hex(masks).as_str()), (FRAMES_SHA256, MASKS_SHA256));

        let (ball, car, bird, kite) = (0, 1, 2, 3);
        for object in [car, ball, kite] {
            assert!(areas.iter().all(|a| a[object] > 2_000), "{} is always seen", OBJECTS[object].name);
        }
        let least = areas.iter().map(|a| a[car]).min();
        assert!(least < Some(areas[0][car] * 4 / 5), "something passes in front of the car: {least:?}");
        let absent: Vec<usize> = (0..areas.len()).filter(|n| areas[*n][bird] == 0).collect();
        assert!(absent.len() > 20, "the bird leaves: {absent:?}");
        assert!(absent.windows(2).all(|w| w[1] == w[0] + 1), "the bird is away once: {absent:?}");
        assert!(areas[0][bird] > 3_000 && areas[95][bird] > 3_000, "the bird is there first and last");
    }

    #[test]
    fn clicks_hit_their_objects() {
        for (object, (index, mask)) in DemoClip::objects().iter().zip(DemoClip.truth(FrameIndex(0))) {
            for click in object.clicks {
                let (x, y) = (click.x as u32, click.y as u32);
                for (dx, dy) in [(0, 0), (6, 0), (0, 6), (6, 6)] {
                    assert!(
                        mask.get(x + dx - 3, y + dy - 3),
                        "object {index}, {}, at ({x}, {y})",
                        object.name
                    );
                }
            }
            assert_eq!(object.first_frame, FrameIndex(0));
        }
    }

    #[test]
    fn past_the_end_stands_the_last_frame() {
        assert_eq!(DemoClip.frame(FrameIndex(96)), DemoClip.frame(FrameIndex(95)));
    }
}
