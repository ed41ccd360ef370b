//! What this machine can compute on. A device is announced only after it computed something right.

use crate::ggml::{Backend, Builder, GgmlError, Kind, Workspace};

/// One device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Kind, e.g. "CPU".
    pub kind: String,
    /// Name in words.
    pub name: String,
    /// Whether it is the one that would be used.
    pub chosen: bool,
    /// What was tried on it, or why it cannot be used.
    pub note: String,
}

/// The devices of this build on this machine, best first.
pub fn devices() -> Vec<Device> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let kind = "CPU".to_owned();
    let usable =
        Backend::cpu(threads).and_then(|backend| probe(&backend).map(|()| backend.name().to_owned()));
    vec![match usable {
        Ok(name) => {
            Device { kind, name, chosen: true, note: format!("{threads} threads, f32; computed a probe") }
        }
        Err(error) => Device { kind, name: "processor".into(), chosen: false, note: error.to_string() },
    }]
}

/// Computes a small product whose result is known.
fn probe(backend: &Backend) -> Result<(), GgmlError> {
    let mut builder = Builder::new()?;
    let a = builder.input(Kind::F32, [2, 1, 1, 1]);
    let b = builder.input(Kind::F32, [2, 1, 1, 1]);
    let product = builder.mul_mat(a, b);
    builder.output(product);
    let (mut graph, mut workspace) = (builder.finish(), Workspace::new(backend)?);
    let mut run = workspace.begin(&mut graph)?;
    run.set_f32(a, &[2.0, 3.0]);
    run.set_f32(b, &[5.0, 7.0]);
    run.compute()?;
    let found = run.read_f32(product);
    if found == [31.0] {
        return Ok(());
    }
    let reason = format!("a probe gave {found:?} instead of 31");
    Err(GgmlError::Device { device: backend.name().to_owned(), reason })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_processor_computes_the_probe() {
        let devices = super::devices();
        assert!(devices.iter().any(|device| device.kind == "CPU" && device.chosen), "{devices:?}");
    }
}
