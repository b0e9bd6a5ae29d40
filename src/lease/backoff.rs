//! How long to wait before the next attempt: exponential backoff with full jitter, so that a fleet that lost its database
//! together does not come back together (Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const MOST: Duration = Duration::from_secs(30);

/// The delay after `attempt` failures in a row (at least 1): `random`, of the whole range of `u32`, picks a point between
/// 0 and 100 ms · 2^(attempt - 1), at most 30 s, and at most `most`.
#[must_use]
pub fn delay(attempt: u32, random: u32, most: Duration) -> Duration {
    let ceiling = FIRST.saturating_mul(1 << (attempt - 1).min(10)).min(MOST).min(most);
    ceiling.mul_f64(f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ceiling_doubles_from_100_ms_to_30_s() {
        let ceilings: Vec<u128> = (1..=12).map(|attempt| delay(attempt, u32::MAX, Duration::MAX).as_millis()).collect();
        assert_eq!(ceilings, [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000]);
        assert_eq!(delay(u32::MAX, u32::MAX, Duration::MAX), MOST);
        assert_eq!(delay(12, u32::MAX, Duration::from_secs(2)), Duration::from_secs(2));
    }

    #[test]
    fn the_jitter_is_full() {
        assert_eq!(delay(5, 0, MOST), Duration::ZERO);
        assert!((49..=50).contains(&delay(1, u32::MAX / 2, MOST).as_millis()));
    }
}
