//! The devices that ggml knows. Those of plug-ins are known once the plug-ins are loaded, which happens here.

use std::ffi::CStr;

use super::{log, sys};
use crate::base::DeviceFamily;

/// A device that a driver has announced. Whether it computes is another matter.
#[derive(Clone, Debug)]
pub struct Found {
    pub(super) raw: sys::ggml_backend_dev_t,
    /// Its kind.
    pub family: DeviceFamily,
    /// Which of its kind, from 0.
    pub index: usize,
    /// Its name in words.
    pub name: String,
}

// SAFETY: ggml's devices live as long as the program and are only read.
unsafe impl Send for Found {}
// SAFETY: as above.
unsafe impl Sync for Found {}

impl Found {
    /// Bytes of memory that are free, and all of them; 0 where the driver does not say.
    pub fn memory(&self) -> (usize, usize) {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the device lives as long as the program; both pointers are valid.
        unsafe { sys::ggml_backend_dev_memory(self.raw, &raw mut free, &raw mut total) };
        (free, total)
    }
}

/// The devices of `family`, in the driver's order; where there are none, why not.
///
/// # Errors
/// A sentence.
pub fn found(family: DeviceFamily) -> Result<Vec<Found>, String> {
    log::install();
    #[cfg(feature = "dynamic-backends")]
    super::plugins::load(family)?;
    let devices = announced(family);
    if devices.is_empty() { Err(absence(family)) } else { Ok(devices) }
}

fn announced(family: DeviceFamily) -> Vec<Found> {
    let mut devices = Vec::new();
    log::clear();
    // SAFETY: ggml makes its list of devices at the first call and then only reads it.
    let count = unsafe { sys::ggml_backend_dev_count() };
    for at in 0..count {
        // SAFETY: `at` is below the count; the strings are NUL-terminated and live as long as the program.
        let (raw, registry, name) = unsafe {
            let raw = sys::ggml_backend_dev_get(at);
            let registry = sys::ggml_backend_reg_name(sys::ggml_backend_dev_backend_reg(raw));
            (raw, CStr::from_ptr(registry), CStr::from_ptr(sys::ggml_backend_dev_description(raw)))
        };
        if family_of(&registry.to_string_lossy()) == Some(family) {
            let name = name.to_string_lossy().trim().to_owned();
            devices.push(Found { raw, family, index: devices.len(), name });
        }
    }
    devices
}

fn family_of(registry: &str) -> Option<DeviceFamily> {
    match registry {
        "CPU" => Some(DeviceFamily::Cpu),
        "CUDA" => Some(DeviceFamily::Cuda),
        "Vulkan" => Some(DeviceFamily::Vulkan),
        "MTL" | "Metal" => Some(DeviceFamily::Metal),
        _ => None,
    }
}

/// Why there is no device of `family`.
fn absence(family: DeviceFamily) -> String {
    let built = match family {
        DeviceFamily::Cuda => cfg!(feature = "cuda"),
        DeviceFamily::Vulkan => cfg!(feature = "vulkan"),
        DeviceFamily::Metal => cfg!(feature = "metal"),
        DeviceFamily::Cpu => true,
    };
    if built || cfg!(feature = "dynamic-backends") {
        format!("no {family} device: {}", log::last())
    } else {
        format!("this build has no {family}")
    }
}
