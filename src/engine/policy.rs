//! The rules by which an engine remembers. Masklet's own differ from the official predictor's where that one loses
//! corrections; the official ones exist to be compared with. The other fields exist for tests that must fail.

use super::bank::BankConfig;

/// What becomes of a prompt on a frame that was tracked before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrections {
    /// The frame becomes a conditioning frame, and a conditioning frame that is prompted again is run again.
    Lead,
    /// As the official predictor: the frame stays an ordinary one that is not tracked again, and a new prompt on a
    /// conditioning frame that was passed is shown, then dropped. Frames prompted for one object condition all.
    Official,
}

/// How memory features are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Rounded to bf16, as the reference does on every device.
    Bf16,
    /// As computed: wrong.
    None,
}

/// Which mask answers several clicks or a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleMask {
    /// The single mask if it is stable, else the best candidate.
    IfStable,
    /// Always the single mask: wrong.
    Always,
}

/// Tokens that stand for "no prompt".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Two not-a-point tokens, as trained.
    Two,
    /// One: wrong, the softmax weights change.
    One,
}

/// All rules together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Which memories a frame looks at.
    pub bank: BankConfig,
    /// What corrections do.
    pub corrections: Corrections,
    /// How memories are stored.
    pub rounding: Rounding,
    /// Which mask answers.
    pub single_mask: SingleMask,
    /// How "no prompt" is said.
    pub padding: Padding,
}

impl Policy {
    /// Masklet's own rules.
    pub const NATIVE: Self = Self {
        bank: BankConfig::NATIVE,
        corrections: Corrections::Lead,
        rounding: Rounding::Bf16,
        single_mask: SingleMask::IfStable,
        padding: Padding::Two,
    };

    /// The official predictor's rules, for comparison.
    pub const OFFICIAL: Self =
        Self { bank: BankConfig::OFFICIAL, corrections: Corrections::Official, ..Self::NATIVE };
}

impl Default for Policy {
    fn default() -> Self {
        Self::NATIVE
    }
}
