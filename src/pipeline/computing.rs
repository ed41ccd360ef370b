//! Threads that compute. An engine may hold the thread that computes to one core, for good, and whatever that thread
//! starts later is held to the same core; so computing happens on threads that start no others and end with the work.

use std::thread::{Builder, scope};

use super::PipelineError;

/// Runs `work` on a thread of its own and waits for it.
///
/// # Errors
/// Those of `work`; the thread cannot be started; a panic in it.
pub(super) fn computing<T: Send>(
    work: impl FnOnce() -> Result<T, PipelineError> + Send,
) -> Result<T, PipelineError> {
    scope(|scope| {
        let thread = Builder::new().name("masklet-engine".into()).spawn_scoped(scope, work);
        let ended = thread.map_err(PipelineError::Thread)?.join();
        ended.unwrap_or_else(|payload| Err(PipelineError::panicked("track", payload.as_ref())))
    })
}
