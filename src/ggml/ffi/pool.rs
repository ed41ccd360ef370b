//! The threads that the CPU backend computes with: one for each core, held to it.
//!
//! A graph has hundreds of barriers at which threads spin. When the system puts two of them on one core because another
//! program is busy, each barrier costs a time slice of 4 ms; held to their cores they do not meet.
//!
//! The thread that runs a graph becomes one of the pool and is held to the first core from then on, and so are threads
//! that it starts later. Only the thread that owns an engine may therefore compute.

use std::ptr::NonNull;

use super::sys;

type New = unsafe extern "C" fn(*mut sys::ggml_threadpool_params) -> sys::ggml_threadpool_t;
type Free = unsafe extern "C" fn(sys::ggml_threadpool_t);
type Set = unsafe extern "C" fn(sys::ggml_backend_t, sys::ggml_threadpool_t);

/// A pool in use by one backend.
pub(super) struct Pool {
    raw: NonNull<sys::ggml_threadpool>,
    free: Free,
}

impl Pool {
    /// Gives `backend` a pool of `threads` threads; `None` where the backend has no such thing.
    ///
    /// # Safety
    /// `registry` and `backend` are valid, belong together, and the pool is dropped after the backend is freed.
    pub(super) unsafe fn give(
        registry: sys::ggml_backend_reg_t,
        backend: sys::ggml_backend_t,
        threads: usize,
    ) -> Option<Self> {
        let cores = allowed_cores();
        // SAFETY: the names are NUL-terminated; ggml documents the functions behind them with these signatures, and
        // with plug-ins they can only be reached this way.
        unsafe {
            let find = |name: &std::ffi::CStr| {
                NonNull::new(sys::ggml_backend_reg_get_proc_address(registry, name.as_ptr()))
            };
            let new: New = std::mem::transmute(find(c"ggml_threadpool_new")?);
            let free: Free = std::mem::transmute(find(c"ggml_threadpool_free")?);
            let set: Set = std::mem::transmute(find(c"ggml_backend_cpu_set_threadpool")?);
            let mut params = sys::ggml_threadpool_params_default(i32::try_from(threads).ok()?);
            if cores.len() >= threads {
                for &core in cores.iter().take(threads) {
                    *params.cpumask.get_mut(core)? = true;
                }
                params.strict_cpu = true;
            }
            let raw = NonNull::new(new(&raw mut params))?;
            set(backend, raw.as_ptr());
            Some(Self { raw, free })
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: made by ggml_threadpool_new, freed once; its backend is gone.
        unsafe { (self.free)(self.raw.as_ptr()) }
    }
}

/// Cores that this process may run on; empty where the system does not say, and then nothing is held to a core.
fn allowed_cores() -> Vec<usize> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or("");
    parse_cores(list)
}

/// Reads "0-3,8".
fn parse_cores(list: &str) -> Vec<usize> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&core| core < 512);
    list.split(',')
        .filter_map(|part| match part.split_once('-') {
            Some((first, last)) => Some(number(first)?..=number(last)?),
            None => number(part).map(|core| core..=core),
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::parse_cores;

    #[test]
    fn core_lists_are_read() {
        assert_eq!(parse_cores("\t0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(parse_cores("7"), [7]);
        assert!(parse_cores("").is_empty());
        assert!(parse_cores("x-y, 9999999").is_empty());
    }
}
