//! The only place that reads a clock; `clippy.toml` bans the others. Everything else takes `now`, or a [`Clock`].

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A point on the clock that runs through suspend and never goes back, in nanoseconds since an arbitrary start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Tick(pub u64);

impl Tick {
    /// The tick `duration` later; saturates at the end of time.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// Time from `earlier` to this tick; zero if `earlier` is the later one.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Milliseconds, cut.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0 / 1_000_000
    }
}

/// Two clocks: one that measures, one that tells the date.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// Elapsed time that goes on while the machine is suspended (`CLOCK_BOOTTIME` on Linux).
    fn tick(&self) -> Tick;
    /// Milliseconds since 1970 by the wall clock; 0 if it stands before 1970. It may be wrong and it may step.
    fn wall_ms(&self) -> u64;
}

/// The machine's clocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[cfg(unix)]
    #[allow(clippy::disallowed_methods, reason = "this is the one place that reads a clock")]
    #[inline]
    fn tick(&self) -> Tick {
        // macOS and the BSDs have no CLOCK_BOOTTIME of Linux's name; their CLOCK_MONOTONIC goes on during sleep.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        const RUNS_THROUGH_SUSPEND: rustix::time::ClockId = rustix::time::ClockId::Boottime;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        const RUNS_THROUGH_SUSPEND: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
        let time = rustix::time::clock_gettime(RUNS_THROUGH_SUSPEND);
        Tick(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }

    /// Windows: `Instant` is `QueryPerformanceCounter`, which counts time spent asleep.
    #[cfg(not(unix))]
    #[allow(clippy::disallowed_methods, reason = "this is the one place that reads a clock")]
    fn tick(&self) -> Tick {
        use std::sync::OnceLock;
        use std::time::Instant;
        static START: OnceLock<Instant> = OnceLock::new();
        Tick::default().after(START.get_or_init(Instant::now).elapsed())
    }

    #[allow(clippy::disallowed_methods, reason = "this is the one place that reads a clock")]
    fn wall_ms(&self) -> u64 {
        let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
    }
}

/// A clock that stands still until it is told to move; for tests.
#[derive(Debug, Default)]
pub struct ManualClock {
    tick: AtomicU64,
    wall_ms: AtomicU64,
}

impl ManualClock {
    /// A clock whose wall shows `wall_ms` (milliseconds since 1970).
    #[must_use]
    pub fn at(wall_ms: u64) -> Self {
        Self { tick: AtomicU64::new(0), wall_ms: AtomicU64::new(wall_ms) }
    }

    /// Moves both clocks forward.
    pub fn advance(&self, by: Duration) {
        self.tick.fetch_add(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX), Ordering::SeqCst);
        self.wall_ms.fetch_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }

    /// Steps the wall clock alone, as an administrator or NTP would.
    pub fn set_wall_ms(&self, wall_ms: u64) {
        self.wall_ms.store(wall_ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn tick(&self) -> Tick {
        Tick(self.tick.load(Ordering::SeqCst))
    }

    fn wall_ms(&self) -> u64 {
        self.wall_ms.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_moves_forward_and_knows_the_century() {
        let (a, b) = (SystemClock.tick(), SystemClock.tick());
        assert!(a <= b && a > Tick(0));
        assert!(SystemClock.wall_ms() > 1_700_000_000_000);
    }

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let clock = ManualClock::at(1000);
        clock.advance(Duration::from_millis(5));
        assert_eq!((clock.tick(), clock.wall_ms()), (Tick(5_000_000), 1005));
        clock.set_wall_ms(7);
        assert_eq!((clock.tick().millis(), clock.wall_ms()), (5, 7));
    }

    #[test]
    fn ticks_saturate() {
        assert_eq!(Tick(5).since(Tick(9)), Duration::ZERO);
        assert_eq!(Tick(u64::MAX).after(Duration::from_secs(1)), Tick(u64::MAX));
    }
}
