//! Owns the choice among the decoder's four masks: best of three, or the single mask if it is stable.
//! May import: nothing of this crate.
//! Must not: resize, threshold or store the chosen mask.

/// Logit of every pixel of an object that is not on the frame.
pub const ABSENT_LOGIT: f32 = -1024.0;

/// What the caller asked the decoder for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskRule {
    /// The best of the candidates 1 to 3 (tracking, one click).
    Multi,
    /// Mask 0, or the best candidate when mask 0 is unstable (box, several clicks).
    Single,
}

/// Settings of the choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChooseConfig {
    /// Fall back from an unstable single mask. `None` takes mask 0 whatever it looks like.
    pub stability: Option<Stability>,
    /// Whether an object score that is not above 0 blanks the mask: yes in videos, no for single pictures.
    pub gate: bool,
}

/// When a single mask counts as stable: `#(logit > delta) / #(logit > -delta) >= threshold`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stability {
    /// Distance from the border's logit 0.
    pub delta: f32,
    /// Least ratio.
    pub threshold: f32,
}

impl Default for Stability {
    fn default() -> Self {
        Self { delta: 0.05, threshold: 0.98 }
    }
}

impl Default for ChooseConfig {
    fn default() -> Self {
        Self { stability: Some(Stability::default()), gate: true }
    }
}

/// Which mask was taken and what goes with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// 0 to 3.
    pub mask: u8,
    /// Predicted IoU of that mask.
    pub iou: f32,
    /// Mask token of the object pointer, 0 to 3: that of the chosen candidate, but always 0 under
    /// [`MaskRule::Single`], even after a fall-back.
    pub pointer_token: u8,
    /// Whether the object is on the frame (score above 0). Gates the pointer, and the mask where the configuration says.
    pub present: bool,
    /// Whether the mask is blanked.
    pub blank: bool,
}

/// Chooses. `logits` are the decoder's four masks one after the other, ungated; `iou` their predicted IoUs; `score` the
/// object score logit. IoUs are not gated: an absent object still has a best candidate.
pub fn choose(rule: MaskRule, logits: &[f32], iou: &[f32; 4], score: f32, config: &ChooseConfig) -> Choice {
    let best = (2..4).fold(1, |best, i| if iou[i] > iou[best] { i } else { best });
    let mask = match (rule, config.stability) {
        (MaskRule::Multi, _) => best,
        (MaskRule::Single, Some(s)) if stability(plane(logits, 0), s.delta) < s.threshold => best,
        (MaskRule::Single, _) => 0,
    };
    let pointer_token = if rule == MaskRule::Multi { best } else { 0 };
    let present = score > 0.0;
    Choice {
        mask: mask as u8,
        iou: iou[mask],
        pointer_token: pointer_token as u8,
        present,
        blank: config.gate && !present,
    }
}

impl Choice {
    /// Copies the chosen mask of the four in `logits` to `out`, blanked when the object is absent.
    pub fn take(&self, logits: &[f32], out: &mut Vec<f32>) {
        let chosen = plane(logits, self.mask);
        out.clear();
        if self.blank {
            out.resize(chosen.len(), ABSENT_LOGIT);
        } else {
            out.extend_from_slice(chosen);
        }
    }
}

fn plane(logits: &[f32], mask: u8) -> &[f32] {
    let area = logits.len() / 4;
    &logits[area * usize::from(mask)..][..area]
}

/// Area above `delta` by area above `-delta`; 1 when the latter is empty.
fn stability(logits: &[f32], delta: f32) -> f32 {
    let (mut inner, mut outer) = (0u32, 0u32);
    for &value in logits {
        inner += u32::from(value > delta);
        outer += u32::from(value > -delta);
    }
    if outer == 0 { 1.0 } else { inner as f32 / outer as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IOU: [f32; 4] = [0.9, 0.3, 0.7, 0.7];

    /// Four masks of 100 pixels; of mask 0 `shaky` pixels lie at the border, the other set ones are firm.
    fn masks(firm: usize, shaky: usize) -> Vec<f32> {
        let mut logits = vec![-5.0; 400];
        logits[..firm].fill(5.0);
        logits[firm..firm + shaky].fill(0.01);
        for i in 1..4 {
            logits[i * 100] = i as f32;
        }
        logits
    }

    #[test]
    fn multi_takes_the_first_best_candidate_and_its_token() {
        let choice = choose(MaskRule::Multi, &masks(50, 0), &IOU, 3.0, &ChooseConfig::default());
        assert_eq!((choice.mask, choice.pointer_token, choice.iou), (2, 2, 0.7));
        let mut out = Vec::new();
        choice.take(&masks(50, 0), &mut out);
        assert_eq!((out.len(), out[0]), (100, 2.0));
    }

    #[test]
    fn a_stable_single_mask_stays() {
        let choice = choose(MaskRule::Single, &masks(98, 2), &IOU, 3.0, &ChooseConfig::default());
        assert_eq!((choice.mask, choice.pointer_token, choice.iou), (0, 0, 0.9));
    }

    #[test]
    fn an_unstable_single_mask_falls_back_but_keeps_token_0() {
        let config = ChooseConfig::default();
        let choice = choose(MaskRule::Single, &masks(97, 3), &IOU, 3.0, &config);
        assert_eq!((choice.mask, choice.pointer_token, choice.iou), (2, 0, 0.7));
        let off = ChooseConfig { stability: None, ..config };
        assert_eq!(choose(MaskRule::Single, &masks(97, 3), &IOU, 3.0, &off).mask, 0);
    }

    #[test]
    fn an_empty_single_mask_is_stable() {
        assert_eq!(choose(MaskRule::Single, &masks(0, 0), &IOU, 3.0, &ChooseConfig::default()).mask, 0);
    }

    #[test]
    fn absence_blanks_after_the_choice() {
        let config = ChooseConfig::default();
        for score in [0.0, -1.0, f32::NAN] {
            // Were the logits blanked first, mask 0 would be empty and therefore stable.
            let choice = choose(MaskRule::Single, &masks(10, 90), &IOU, score, &config);
            assert_eq!((choice.mask, choice.present, choice.blank, choice.iou), (2, false, true, 0.7));
            let mut out = vec![1.0];
            choice.take(&masks(10, 90), &mut out);
            assert_eq!(out, vec![ABSENT_LOGIT; 100]);
        }
        let picture =
            choose(MaskRule::Multi, &masks(50, 0), &IOU, -1.0, &ChooseConfig { gate: false, ..config });
        assert_eq!((picture.present, picture.blank), (false, false));
    }
}
