//! Keeps ggml's log off the terminal, and its last error line for the messages of this crate.

use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, Once};

use super::sys;

static LAST: Mutex<String> = Mutex::new(String::new());
static INSTALL: Once = Once::new();

/// Takes over ggml's log; the first call does it.
pub(super) fn install() {
    INSTALL.call_once(|| {
        // SAFETY: `keep` has the required signature, lives forever and uses no user data.
        unsafe { sys::ggml_log_set(Some(keep), std::ptr::null_mut()) }
    });
}

/// Forgets what was logged, so that [`last`] speaks of what follows.
pub(super) fn clear() {
    LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
}

/// The last warning or error that ggml logged, or a word that says there was none.
pub(super) fn last() -> String {
    let last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if last.is_empty() { "no reason was given".into() } else { last.clone() }
}

unsafe extern "C" fn keep(level: sys::ggml_log_level, text: *const c_char, _: *mut c_void) {
    if text.is_null() || level < sys::GGML_LOG_LEVEL_WARN || level == sys::GGML_LOG_LEVEL_CONT {
        return;
    }
    // SAFETY: ggml passes a NUL-terminated string that is valid during the call.
    let line = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let mut last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    last.clear();
    last.push_str(line.trim());
}
