//! The actors: a ball, a car, a fish-shaped kite and a bird. Each knows its shape and its paint, not its path.

use super::draw::Actor;
use super::fixed::{ONE, Rgb, TURN, UNIT, clouds, cos, ellipse, lit, mix, noise, sin, step, turn};

/// A box in pixels around (`x`, `y`) (units) that reaches `rx` and `ry` pixels to each side.
fn around(x: i32, y: i32, rx: i32, ry: i32) -> [i32; 4] {
    [x / ONE - rx, y / ONE - ry, x / ONE + rx + 1, y / ONE + ry + 1]
}

/// A beach ball that rolls and bounces.
pub struct Ball {
    /// Centre, units.
    pub x: i32,
    /// Centre, units.
    pub y: i32,
    /// Radius, units.
    pub radius: i32,
    /// How far it has turned.
    pub spin: i32,
    /// Height of the ground under it, units.
    pub floor: i32,
}

impl Actor for Ball {
    fn bounds(&self) -> [i32; 4] {
        let r = self.radius / ONE + 2;
        around(self.x, self.y, r, r)
    }

    fn sample(&self, x: i32, y: i32) -> Option<Rgb> {
        let (dx, dy, r) = (x - self.x, y - self.y, self.radius);
        let rest = r * r - dx * dx - dy * dy;
        if rest < 0 {
            return None;
        }
        let dz = rest.isqrt();
        // On the ball: turned by its spin, then tipped so that a pole shows.
        let (u, v) = turn(dx, dy, -self.spin);
        let (pole, v) = turn(dz, v, -TURN / 11);
        // Three planes through the axis cut six panels.
        let sides = [v > 0, u * 7 > v * 4, u * 7 + v * 4 > 0];
        let paint: Rgb = if pole * 100 > r * 95 {
            [240, 236, 226]
        } else {
            match sides {
                [true, true, true] => [236, 186, 36],
                [true, false, false] => [36, 92, 196],
                [false, true, false] => [30, 158, 104],
                _ => [240, 237, 230],
            }
        };
        // Light from the upper left, in front.
        let facing = (dz * 150 - dx * 110 - dy * 175) / r;
        let shine = ((facing - 218) * 7).clamp(0, 150);
        let bounce = (dy * 24 / r).max(0);
        Some(mix(lit(paint, 104 + (facing.max(-30) * 3 / 5) + bounce), [255, 255, 250], shine))
    }

    fn shadow(&self) -> Option<[i32; 5]> {
        let height = (self.floor - self.y - self.radius).max(0) / ONE;
        let spread = self.radius + height * ONE / 4;
        Some([self.x + height * ONE / 3, self.floor - 2 * ONE, spread, spread / 3, 300 - height * 2])
    }
}

/// A car seen from the side, driving to the right.
pub struct Car {
    /// Middle between the wheels, units.
    pub x: i32,
    /// Where the wheels touch the road, units.
    pub y: i32,
    /// How far the body has sprung up, units.
    pub spring: i32,
    /// How far the wheels have turned.
    pub spin: i32,
}

impl Car {
    const WHEELS: [i32; 2] = [-58, 60];

    fn wheel(&self, x: i32, y: i32) -> Option<Rgb> {
        let r = 17 * ONE;
        Self::WHEELS.iter().find_map(|centre| {
            let (dx, dy) = (x - centre * ONE, y + r);
            let d2 = dx * dx + dy * dy;
            if d2 > r * r {
                return None;
            }
            let d = d2.isqrt();
            let (u, v) = turn(dx, dy, -self.spin);
            let spoke = (u.abs() < 2 * ONE || v.abs() < 2 * ONE) && d > 3 * ONE;
            Some(match d / ONE {
                0..3 => [120, 120, 124],
                3..11 if spoke => [206, 208, 212],
                3..10 => [92, 94, 100],
                10 => [188, 190, 194],
                _ => lit([40, 40, 44], 256 - dy * 60 / r),
            })
        })
    }

    /// The body in pixels times 16, upwards positive in `h`.
    fn body(x: i32, h: i32) -> Option<Rgb> {
        let (px, ph) = (x / ONE, h / ONE);
        // Height of the outline: bonnet to the right, boot to the left, cabin between.
        let roof = |from: i32, to: i32, a: i32, b: i32| (b - a) * (px - from) / (to - from) + a;
        let top = match px {
            -100..-92 => roof(-100, -92, 34, 46),
            -92..-66 => roof(-92, -66, 46, 49),
            -66..-42 => roof(-66, -42, 49, 76),
            -42..14 => 76 + (px + 42) * (14 - px) / 260,
            14..46 => roof(14, 46, 76, 50),
            46..92 => roof(46, 92, 50, 42),
            92..102 => roof(92, 102, 42, 28),
            _ => return None,
        };
        if ph > top || ph < 10 {
            return None;
        }
        // Wheel arches.
        let arch = Self::WHEELS.iter().any(|c| (px - c) * (px - c) + (ph - 17) * (ph - 17) < 20 * 20);
        if arch {
            return Some([28, 24, 26]);
        }
        let glass = (52..top - 3).contains(&ph) && (-58..38).contains(&px);
        let pillar = (-14..-10).contains(&px) || roof(-66, -42, 49, 76) < ph + 4 && px < -40;
        if glass && !pillar && !(px > 12 && roof(14, 46, 76, 50) < ph + 4) {
            let glare = (px * 2 + ph).rem_euclid(70) < 14;
            let pane = mix([54, 72, 88], [150, 182, 204], (ph - 50) * 9);
            return Some(if glare { mix(pane, [220, 232, 240], 110) } else { pane });
        }
        if px > 92 && (30..38).contains(&ph) {
            return Some([250, 240, 190]);
        }
        if px < -93 && (32..40).contains(&ph) {
            return Some([255, 120, 60]);
        }
        if ph < 16 {
            return Some([66, 60, 62]);
        }
        let seam = (px == -12 || px == 34) && ph < 52 || px == -52 && (30..50).contains(&ph);
        let handle = (-30..-22).contains(&px) && (41..44).contains(&ph);
        // Sky above, road below, and a crease along the side are seen in the paint.
        let shade =
            176 + (ph - 14) * 2 + if (36..40).contains(&ph) { 60 } else { 0 } - if ph < 24 { 40 } else { 0 };
        let paint = lit([206, 40, 44], shade);
        Some(if seam {
            lit(paint, 130)
        } else if handle {
            [228, 224, 224]
        } else {
            paint
        })
    }
}

impl Actor for Car {
    fn bounds(&self) -> [i32; 4] {
        let [x0, y0, x1, y1] = around(self.x, self.y, 106, 92);
        [x0, y0, x1, y1 - 80]
    }

    fn sample(&self, x: i32, y: i32) -> Option<Rgb> {
        let (x, y) = (x - self.x, y - self.y);
        self.wheel(x, y).or_else(|| Self::body(x, -y - self.spring))
    }

    fn shadow(&self) -> Option<[i32; 5]> {
        Some([self.x + 4 * ONE, self.y - 2 * ONE, 116 * ONE, 17 * ONE, 330])
    }
}

/// A kite in the shape of a carp: its body waves from the head to the tail.
pub struct Fish {
    /// Middle of the body, units.
    pub x: i32,
    /// Middle of the body, units.
    pub y: i32,
    /// How it is turned.
    pub tilt: i32,
    /// Where the wave stands.
    pub phase: i32,
}

impl Fish {
    /// Half the length, in pixels.
    const HALF: i32 = 92;

    /// Half the height of the body `along` units from its middle (head positive), in units.
    fn girth(along: i32) -> i32 {
        let p = along / ONE;
        match p {
            -92..-56 => (9 + (-56 - p) * 26 / 36) * ONE,
            -56..10 => (9 * ONE) + 25 * ONE * sin((p + 56) * (TURN / 4) / 66) / UNIT,
            _ => {
                let t = p - 10;
                34 * ONE * (82 * 82 - t * t).max(0).isqrt() / 82
            }
        }
    }
}

impl Actor for Fish {
    fn bounds(&self) -> [i32; 4] {
        around(self.x, self.y, Self::HALF + 14, 84)
    }

    fn sample(&self, x: i32, y: i32) -> Option<Rgb> {
        let (u, v) = turn(x - self.x, y - self.y, -self.tilt);
        if u.abs() >= Self::HALF * ONE {
            return None;
        }
        // The wave grows towards the tail and wanders along the body.
        let reach = (Self::HALF * ONE - u) / 2;
        let v = v - reach * sin(u * TURN / (230 * ONE) + self.phase) / UNIT / 4;
        let girth = Self::girth(u);
        let p = u / ONE;
        let fin = (-34..26).contains(&p) && v < 0 && -v < girth + (26 - p) * (p + 34) * ONE / 66;
        let belly_fin = (-6..22).contains(&p) && v > 0 && v < girth + (22 - p) * (p + 6) * ONE / 22;
        if v.abs() > girth {
            if !(fin || belly_fin) {
                return None;
            }
            let rib = (u * 2 + v).rem_euclid(9 * ONE) < 3 * ONE;
            return Some(lit([226, 96, 36], if rib { 190 } else { 236 }));
        }
        let round = v * 256 / girth.max(1);
        let light = 268 - (round + 60) * (round + 60) / 560;
        if p < -56 {
            let rib = (v * 56 / (ONE * 12 - p)).rem_euclid(40) < 12;
            return Some(lit([236, 112, 40], light - if rib { 50 } else { 0 }));
        }
        let eye = ellipse(u - 68 * ONE, v + 9 * ONE, 6 * ONE, 6 * ONE);
        if eye < 0 {
            return Some(if eye < -150 { [20, 20, 24] } else { [244, 240, 226] });
        }
        if p > 50 && (u - 50 * ONE) / 2 < 2 * ONE {
            return Some(lit([190, 70, 24], light));
        }
        // Patches of white on orange, and rows of scales.
        let patch = step(118, 146, clouds(u + 700, v * 3 / 2 + 300, 9, 77));
        let row = (v + 60 * ONE) / (7 * ONE);
        let (su, sv) =
            ((u + row % 2 * 4 * ONE).rem_euclid(8 * ONE) - 4 * ONE, (v + 60 * ONE) % (7 * ONE) - 3 * ONE);
        let scale = if p < 50 && su * su + sv * sv > 15 * ONE * ONE { 34 } else { 0 };
        Some(lit(mix([240, 104, 30], [248, 240, 226], patch), light - scale))
    }

    fn shadow(&self) -> Option<[i32; 5]> {
        None
    }
}

/// A bird that flaps its wings.
pub struct Bird {
    /// Middle of the body, units.
    pub x: i32,
    /// Middle of the body, units.
    pub y: i32,
    /// Flies to the left instead of to the right.
    pub left: bool,
    /// Where the wing beat stands.
    pub beat: i32,
}

impl Bird {
    /// A wing: `u` along the body, `v` downwards, both from the shoulder; `lift` is where its tip stands.
    fn wing(u: i32, v: i32, lift: i32, dark: Rgb, light: Rgb) -> Option<Rgb> {
        // Along the wing 0 at the shoulder, 256 at the tip.
        let along = if lift.abs() < 8 * ONE { return None } else { v * 256 / lift };
        if !(0..256).contains(&along) {
            return None;
        }
        // The tip is swept back; the wing narrows towards it.
        let middle = -along * along * 22 * ONE / 65_536;
        let half = (20 * ONE * (65_536 - along * along * 9 / 10)) / 65_536;
        let across = u - middle;
        if across.abs() > half {
            return None;
        }
        let feather = (across + along * 2).rem_euclid(7 * ONE) < 2 * ONE && across < half / 3;
        let paint = mix(light, dark, step(60, 200, along - across / 4));
        Some(if feather { lit(paint, 200) } else { paint })
    }
}

impl Actor for Bird {
    fn bounds(&self) -> [i32; 4] {
        around(self.x, self.y, 92, 80)
    }

    fn sample(&self, x: i32, y: i32) -> Option<Rgb> {
        // Drawn smaller than it is shown.
        let u = if self.left { self.x - x } else { x - self.x };
        let u = u * 4 / 5;
        let v = (y - self.y) * 4 / 5;
        let lift = -sin(self.beat) * 46 * ONE / UNIT - 12 * ONE;
        if let Some(c) = Self::wing(u - 2 * ONE, v + 2 * ONE, lift, [26, 32, 84], [58, 92, 190]) {
            return Some(c);
        }
        let head = ellipse(u - 38 * ONE, v + 8 * ONE, 14 * ONE, 13 * ONE);
        if head < 0 {
            let eye = ellipse(u - 42 * ONE, v + 11 * ONE, 3 * ONE, 3 * ONE);
            return Some(if eye < 0 {
                if eye < -120 { [16, 16, 20] } else { [250, 246, 230] }
            } else {
                lit([46, 76, 172], 256 - head / 4 - v / 6)
            });
        }
        let beak = u - 49 * ONE;
        if (0..19 * ONE).contains(&beak) && (v + 6 * ONE - beak / 6).abs() < (19 * ONE - beak) * 6 / 19 {
            return Some(lit([240, 180, 40], if v + 5 * ONE > beak / 6 { 200 } else { 256 }));
        }
        let body = ellipse(u, v, 42 * ONE, 17 * ONE);
        if body < 0 {
            let light = 214 - v / 4 - body / 6;
            let breast = step(-20, 90, v * 2 + u / 4 - 20);
            let feathers = noise(u * 2, v * 4, 7, 5) / 6;
            return Some(lit(mix([50, 80, 180], [244, 206, 92], breast), light + feathers));
        }
        let tail = -u - 30 * ONE;
        if (0..40 * ONE).contains(&tail) && (v + 2 * ONE - tail / 8).abs() < 6 * ONE + tail / 5 {
            let band = (v + tail / 6).rem_euclid(6 * ONE) < ONE;
            return Some(lit([34, 48, 124], if band { 190 } else { 240 }));
        }
        // The far wing beats half a breath later and is seen behind the body.
        let far = -sin(self.beat - 40) * 40 * ONE / UNIT - 12 * ONE;
        Self::wing(u - 12 * ONE, v + 2 * ONE, far, [20, 26, 70], [44, 70, 150])
    }

    fn shadow(&self) -> Option<[i32; 5]> {
        None
    }
}

/// Height above the floor of something that bounces every `period` frames up to `height` units.
pub fn bounce(n: i32, period: i32, height: i32) -> i32 {
    let t = n.rem_euclid(period);
    4 * height * t * (period - t) / (period * period)
}

/// `middle + swing * cos(angle)`, in units.
pub fn sway(middle: i32, swing: i32, angle: i32) -> i32 {
    middle + swing * cos(angle) / UNIT
}
