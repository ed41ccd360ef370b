//! What this machine can compute on, and the choice among it. A device is announced only after it computed something
//! right; every step down the chain is kept with its reason.

use crate::base::{DeviceChoice, DeviceFamily};
use crate::ggml::{self, Backend, Builder, Found, GgmlError, Kind, Workspace};

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

/// A device that was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepDown {
    /// Its kind.
    pub family: DeviceFamily,
    /// Which of its kind; all of them when `None`.
    pub index: Option<usize>,
    /// Why, in a sentence.
    pub reason: String,
}

impl StepDown {
    fn concerns(&self, device: &Found) -> bool {
        self.family == device.family && self.index.is_none_or(|index| index == device.index)
    }
}

/// A device that computed the probe.
pub(super) struct Opened {
    pub(super) found: Found,
    pub(super) backend: Backend,
    /// What was passed over before it.
    pub(super) skipped: Vec<StepDown>,
}

/// Least free memory that a graphics card must have: what the network needs at 1024 and a little for the desktop.
const LEAST_FREE: usize = 768 << 20;

/// Opens the first device of `choice` that works and is not `refused`. A backend of the processor gets `threads` threads.
pub(super) fn open(choice: DeviceChoice, threads: usize, refused: &[StepDown]) -> Result<Opened, GgmlError> {
    let mut skipped = refused.to_vec();
    for family in choice.families() {
        let devices = match ggml::found(family) {
            Ok(devices) => devices,
            Err(reason) => {
                skipped.push(StepDown { family, index: None, reason });
                continue;
            }
        };
        let count = devices.len();
        let devices: Vec<Found> = devices.into_iter().filter(|device| named(choice, device)).collect();
        if let (DeviceChoice::Only(_, Some(index)), true) = (choice, devices.is_empty()) {
            let reason = format!("there is no number {index} among {count}");
            skipped.push(StepDown { family, index: None, reason });
        }
        for found in devices {
            if refused.iter().any(|step| step.concerns(&found)) {
                continue;
            }
            match try_out(&found, threads) {
                Ok(backend) => return Ok(Opened { found, backend, skipped }),
                Err(reason) => skipped.push(StepDown { family, index: Some(found.index), reason }),
            }
        }
    }
    let reason = skipped.iter().map(|step| format!("{}: {}", step.family, step.reason)).collect::<Vec<_>>();
    Err(GgmlError::Device { device: "no device".into(), reason: reason.join("; ") })
}

/// Whether `choice` can mean `device`.
fn named(choice: DeviceChoice, device: &Found) -> bool {
    match choice {
        DeviceChoice::Only(family, Some(index)) if family == device.family => index == device.index,
        _ => true,
    }
}

fn try_out(device: &Found, threads: usize) -> Result<Backend, String> {
    let (free, _) = device.memory();
    if device.family != DeviceFamily::Cpu && free > 0 && free < LEAST_FREE {
        return Err(format!("only {} MB of its memory are free", free >> 20));
    }
    let backend = Backend::open(device, threads).map_err(|error| error.to_string())?;
    probe(&backend).map_err(|error| error.to_string())?;
    Ok(backend)
}

/// Every device of this build on this machine, best first, and the reasons why kinds of devices are missing.
pub fn devices() -> Vec<Device> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut lines = Vec::new();
    for family in DeviceFamily::CHAIN {
        let kind = family.to_string();
        match ggml::found(family) {
            Ok(devices) => lines.extend(devices.iter().map(|device| line(device, threads))),
            Err(note) => lines.push(Device { kind, name: "none".into(), chosen: false, note }),
        }
    }
    // The first that works is what `auto` takes.
    let mut taken = false;
    for line in &mut lines {
        line.chosen &= !taken;
        taken |= line.chosen;
    }
    lines
}

fn line(device: &Found, threads: usize) -> Device {
    let (kind, (free, total)) = (device.family.to_string(), device.memory());
    let (chosen, note) = match try_out(device, threads) {
        Ok(_) if device.family == DeviceFamily::Cpu => {
            (true, format!("{threads} threads, f32; computed a probe"))
        }
        Ok(_) => (true, format!("{} of {} MB free; computed a probe", free >> 20, total >> 20)),
        Err(reason) => (false, reason),
    };
    let name = match device.family {
        DeviceFamily::Cpu | DeviceFamily::Metal => device.name.clone(),
        _ => format!("{} ({}:{})", device.name, kind.to_lowercase(), device.index),
    };
    Device { kind, name, chosen, note }
}

/// Computes a small product whose result is known.
fn probe(backend: &Backend) -> Result<(), GgmlError> {
    let mut builder = Builder::new()?;
    let a = builder.input(Kind::F32, [2, 1, 1, 1]);
    let b = builder.input(Kind::F32, [2, 1, 1, 1]);
    let product = builder.mul_mat(a, b);
    builder.output(product);
    let (mut graph, mut workspace) = (builder.finish(), Workspace::new(backend)?);
    graph.check(backend)?;
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
    use super::*;

    #[test]
    fn the_processor_computes_the_probe() {
        let devices = devices();
        assert!(devices.iter().any(|device| device.kind == "CPU" && device.name != "none"), "{devices:?}");
        assert_eq!(devices.iter().filter(|device| device.chosen).count(), 1, "{devices:?}");
    }

    #[test]
    fn a_refused_device_is_passed_over_with_its_reason() {
        let opened = open(DeviceChoice::CPU, 1, &[]).expect("there is a processor");
        assert_eq!((opened.found.family, opened.skipped.len()), (DeviceFamily::Cpu, 0));
        let refused = StepDown { family: DeviceFamily::Cpu, index: Some(0), reason: "out of memory".into() };
        let error = open(DeviceChoice::CPU, 1, &[refused]).err().map(|error| error.to_string());
        assert!(error.is_some_and(|text| text.contains("CPU: out of memory")), "nothing is left");
    }

    #[test]
    fn a_device_that_is_not_there_ends_on_the_processor() {
        let choice = DeviceChoice::Only(DeviceFamily::Cuda, Some(99));
        let opened = open(choice, 1, &[]).expect("there is a processor");
        let first = opened.skipped.first().expect("number 99 was passed over");
        assert_eq!(first.family, DeviceFamily::Cuda);
        assert!(!first.reason.is_empty());
    }
}
