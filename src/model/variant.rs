//! Deliberate deviations from the network, for the tests that show that the comparison with the reference would notice.

/// Which GELU the network uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gelu {
    /// The exact one, as trained.
    #[default]
    Erf,
    /// The tanh approximation: wrong here.
    Tanh,
}

/// Where the perceiver's global path adds its position encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PerceiverPositions {
    /// To keys and values, as trained.
    #[default]
    KeysAndValues,
    /// To keys alone: wrong here.
    KeysOnly,
}

/// The network as trained, unless a test says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// Which GELU.
    pub gelu: Gelu,
    /// Where the perceiver adds positions.
    pub perceiver_positions: PerceiverPositions,
}
