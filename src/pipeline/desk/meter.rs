//! How fast things move, for the status bar.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a rate is measured over.
const WINDOW: Duration = Duration::from_secs(3);
/// Time between two reports.
const PAUSE: Duration = Duration::from_secs(1);

/// A rate: events a second over the last few seconds.
#[derive(Default)]
struct Rate {
    at: VecDeque<Instant>,
}

impl Rate {
    fn note(&mut self, now: Instant) {
        self.at.push_back(now);
        if self.at.len() > 256 {
            self.at.pop_front();
        }
    }

    fn value(&mut self, now: Instant) -> f32 {
        while self.at.front().is_some_and(|at| now.duration_since(*at) > WINDOW) {
            self.at.pop_front();
        }
        match (self.at.front(), self.at.len()) {
            (Some(first), count @ 2..) => {
                (count - 1) as f32 / now.duration_since(*first).as_secs_f32().max(1e-3)
            }
            _ => 0.0,
        }
    }
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    /// A picture was decoded for display.
    Decoded,
    /// A frame was tracked.
    Tracked,
}

/// All rates.
#[derive(Default)]
pub(super) struct Meters(Mutex<State>);

#[derive(Default)]
struct State {
    decoded: Rate,
    tracked: Rate,
    reported: Option<Instant>,
}

impl Meters {
    /// Notes that something moved; gives the rates (decoding, tracking) when it is time to report them.
    pub(super) fn note(&self, moved: Moved, now: Instant) -> Option<(f32, f32)> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match moved {
            Moved::Decoded => state.decoded.note(now),
            Moved::Tracked => state.tracked.note(now),
        }
        if state.reported.is_some_and(|at| now.duration_since(at) < PAUSE) {
            return None;
        }
        state.reported = Some(now);
        Some((state.decoded.value(now), state.tracked.value(now)))
    }
}

/// Main memory of this process in bytes, where the system says so in a file.
pub(super) fn rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_count_the_last_seconds_and_are_reported_once_a_second() {
        let (meters, start) = (Meters::default(), Instant::now());
        let at = |ms: u64| start + Duration::from_millis(ms);
        assert!(meters.note(Moved::Tracked, at(0)).is_some());
        assert!((1..10).all(|i| meters.note(Moved::Tracked, at(i * 100)).is_none()));
        let (decoded, tracked) = meters.note(Moved::Tracked, at(1_000)).expect("a second later");
        assert!(decoded == 0.0 && (tracked - 10.0).abs() < 0.1, "{tracked}");
        let (_, later) = meters.note(Moved::Decoded, at(60_000)).expect("much later");
        assert!(later == 0.0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_needs_memory() {
        assert!(rss_bytes().expect("Linux says it") > 1 << 20);
    }
}
