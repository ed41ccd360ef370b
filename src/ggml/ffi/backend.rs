//! A device that computes.

use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::pool::Pool;
use super::{GgmlError, log, sys};

/// A device with its own queue of work. Clones share it; it is freed with the last clone.
#[derive(Clone)]
pub struct Backend(Arc<Inner>);

struct Inner {
    raw: NonNull<sys::ggml_backend>,
    name: String,
    /// Held while a graph computes: ggml's backends have scratch memory of their own, so one graph at a time.
    turn: Mutex<()>,
    /// Dropped after `Drop::drop` has freed the backend that uses it.
    _pool: Option<Pool>,
}

// SAFETY: ggml's backends may be used from any thread, one graph at a time, which `turn` sees to.
unsafe impl Send for Inner {}
// SAFETY: as above; everything else that shared references reach only reads.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: made by ggml_backend_dev_init, freed once; buffers keep an `Arc` of this and are freed before.
        unsafe { sys::ggml_backend_free(self.raw.as_ptr()) }
    }
}

impl Backend {
    /// The processor, with `threads` threads (at least 1).
    ///
    /// # Errors
    /// [`GgmlError::Device`] when this build has no CPU backend.
    pub fn cpu(threads: usize) -> Result<Self, GgmlError> {
        log::install();
        let failed = || GgmlError::Device { device: "CPU".into(), reason: log::last() };
        // SAFETY: no arguments to get wrong; a null device is handled below.
        let device = unsafe { sys::ggml_backend_dev_by_type(sys::GGML_BACKEND_DEVICE_TYPE_CPU) };
        if device.is_null() {
            return Err(failed());
        }
        // SAFETY: `device` is not null; null parameters mean the defaults.
        let raw = unsafe { sys::ggml_backend_dev_init(device, std::ptr::null()) };
        let raw = NonNull::new(raw).ok_or_else(failed)?;
        // SAFETY: the description is a NUL-terminated string owned by the device, which lives forever.
        let name = unsafe { CStr::from_ptr(sys::ggml_backend_dev_description(device)) };
        let name = format!("CPU, {}", name.to_string_lossy().trim());
        let threads = threads.max(1);
        set_threads(device, raw, threads);
        // SAFETY: registry and backend belong together; `Inner` drops the pool after it freed the backend.
        let pool = unsafe {
            let registry = sys::ggml_backend_dev_backend_reg(device);
            (threads > 1).then(|| Pool::give(registry, raw.as_ptr(), threads)).flatten()
        };
        Ok(Self(Arc::new(Inner { raw, name, turn: Mutex::new(()), _pool: pool })))
    }

    /// The device in words.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The right to compute; others wait.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.0.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn raw(&self) -> sys::ggml_backend_t {
        self.0.raw.as_ptr()
    }
}

fn set_threads(device: sys::ggml_backend_dev_t, backend: NonNull<sys::ggml_backend>, threads: usize) {
    // SAFETY: the device is valid; the name is NUL-terminated; ggml documents the function behind this name as
    // `void (*)(ggml_backend_t, int)`, and with plug-ins it can only be reached this way.
    unsafe {
        let registry = sys::ggml_backend_dev_backend_reg(device);
        let found = sys::ggml_backend_reg_get_proc_address(registry, c"ggml_backend_set_n_threads".as_ptr());
        if !found.is_null() {
            let set: unsafe extern "C" fn(sys::ggml_backend_t, i32) = std::mem::transmute(found);
            set(backend.as_ptr(), i32::try_from(threads).unwrap_or(i32::MAX));
        }
    }
}
