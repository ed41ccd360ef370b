//! A device that computes.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::pool::Pool;
use super::registry::{self, Found};
use super::{GgmlError, log, sys};
use crate::base::{DeviceFamily, Traffic};

#[derive(Default)]
struct Counters {
    up: AtomicU64,
    down: AtomicU64,
    graphs: AtomicU64,
    operations: AtomicU64,
}

/// A device with its own queue of work. Clones share it; it is freed with the last clone.
#[derive(Clone)]
pub struct Backend(Arc<Inner>);

struct Inner {
    raw: NonNull<sys::ggml_backend>,
    name: String,
    /// Held while a graph computes: ggml's backends have scratch memory of their own, so one graph at a time.
    turn: Mutex<()>,
    counters: Counters,
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
        let failed = |reason| GgmlError::Device { device: "CPU".into(), reason };
        let devices = registry::found(DeviceFamily::Cpu).map_err(failed)?;
        Self::open(devices.first().expect("what is found is not empty"), threads)
    }

    /// A queue of work on `device`; on the processor with `threads` threads (at least 1).
    ///
    /// # Errors
    /// [`GgmlError::Device`].
    pub fn open(device: &Found, threads: usize) -> Result<Self, GgmlError> {
        log::clear();
        // SAFETY: the device lives as long as the program; null parameters mean the defaults.
        let raw = unsafe { sys::ggml_backend_dev_init(device.raw, std::ptr::null()) };
        let name = format!("{}, {}", device.family, device.name);
        let failed = || GgmlError::Device { device: name.clone(), reason: log::last() };
        let raw = NonNull::new(raw).ok_or_else(failed)?;
        let threads = threads.max(1);
        let mut pool = None;
        if device.family == DeviceFamily::Cpu {
            set_threads(device.raw, raw, threads);
            // SAFETY: registry and backend belong together; `Inner` drops the pool after it freed the backend.
            pool = unsafe {
                let registry = sys::ggml_backend_dev_backend_reg(device.raw);
                (threads > 1).then(|| Pool::give(registry, raw.as_ptr(), threads)).flatten()
            };
        }
        Ok(Self(Arc::new(Inner {
            raw,
            name,
            turn: Mutex::new(()),
            counters: Counters::default(),
            _pool: pool,
        })))
    }

    /// The device in words.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What crossed since the backend was opened. On the processor crossing is only a copy.
    pub fn traffic(&self) -> Traffic {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counters { up, down, graphs, operations } = &self.0.counters;
        Traffic {
            bytes_up: read(up),
            bytes_down: read(down),
            graphs: read(graphs),
            operations: read(operations),
        }
    }

    pub(super) fn count_up(&self, bytes: usize) {
        self.0.counters.up.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn count_down(&self, bytes: usize) {
        self.0.counters.down.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn count_graph(&self, operations: usize) {
        self.0.counters.graphs.fetch_add(1, Ordering::Relaxed);
        self.0.counters.operations.fetch_add(operations as u64, Ordering::Relaxed);
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
