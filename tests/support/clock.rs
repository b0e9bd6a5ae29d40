//! Clocks that tests move.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mintid::clock::{Clock, Tick};
use tokio::time::Instant;

/// A clock over Tokio's paused time, so that the real actor lives through hours in no time.
#[derive(Debug)]
pub(crate) struct VirtualClock {
    began: Instant,
    wall_ms: u64,
    asleep_ns: AtomicU64,
}

impl VirtualClock {
    /// A clock whose wall shows `wall_ms` now; to be made and read inside the paused runtime.
    pub(crate) fn at(wall_ms: u64) -> Self {
        Self { began: now(), wall_ms, asleep_ns: AtomicU64::new(0) }
    }

    /// The machine was suspended: both clocks went on, Tokio's timers did not.
    pub(crate) fn sleep_through(&self, duration: Duration) {
        self.asleep_ns.fetch_add(duration.as_nanos() as u64, Ordering::SeqCst);
    }
}

impl Clock for VirtualClock {
    fn tick(&self) -> Tick {
        let asleep = Duration::from_nanos(self.asleep_ns.load(Ordering::SeqCst));
        Tick::default().after(now().duration_since(self.began) + asleep)
    }

    fn wall_ms(&self) -> u64 {
        self.wall_ms + self.tick().millis()
    }
}

#[allow(clippy::disallowed_methods, reason = "paused time is read here alone, and shown as a `Clock`")]
fn now() -> Instant {
    Instant::now()
}

/// A client's clock that goes wrong by a constant.
#[derive(Debug)]
pub(crate) struct Skewed {
    pub(crate) true_clock: Arc<dyn Clock>,
    pub(crate) by_ms: i64,
}

impl Clock for Skewed {
    fn tick(&self) -> Tick {
        self.true_clock.tick()
    }

    fn wall_ms(&self) -> u64 {
        self.true_clock.wall_ms().saturating_add_signed(self.by_ms)
    }
}
