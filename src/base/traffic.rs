//! How much goes to a device and back.

/// What crossed between the program and a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Traffic {
    /// Bytes to the device.
    pub bytes_up: u64,
    /// Bytes from it.
    pub bytes_down: u64,
    /// Graphs that were started.
    pub graphs: u64,
    /// Operations in them.
    pub operations: u64,
}
