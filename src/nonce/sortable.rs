//! Words by time: the word first, then the clock, then compare-and-swap. That order makes the timestamps of one sequence
//! never go back: a clock value read before the word could be older than the word.

use super::word::{CLOSED, Shape, Word};

/// What came of an attempt to take words by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// `n` words from `first`, all in one millisecond.
    Words { first: u64, n: u64 },
    /// The millisecond is used up: come again when lease time has reached `timestamp`.
    Wait { timestamp: u64 },
    /// The fence's end, or no lease: the slow path must look.
    Limit,
}

impl Word {
    /// Takes 1 to `n` words of the millisecond that `now` reads.
    #[inline]
    pub(super) fn take_by_time(&self, shape: Shape, n: u64, now: impl Fn() -> u64) -> Taken {
        let mut seen = self.last();
        loop {
            if seen == CLOSED {
                return Taken::Limit;
            }
            let now = now();
            let first = (seen + 1).max(shape.first_at(shape.machine(seen), now));
            let last = shape.last_in_millisecond(first).min(first + (n - 1));
            if last >= self.limit() {
                return Taken::Limit;
            }
            if shape.timestamp(first) > now {
                return Taken::Wait { timestamp: shape.timestamp(first) };
            }
            match self.advance(seen, last) {
                Ok(()) => return Taken::Words { first, n: last - first + 1 },
                Err(other) => seen = other,
            }
        }
    }

    /// Takes 1 to `n` words from the millisecond `earliest` on, across milliseconds, but none after `latest`: for times
    /// that somebody chose, and for sequences that may run ahead.
    pub(super) fn take_between(&self, shape: Shape, n: u64, earliest: u64, latest: u64) -> Taken {
        let mut seen = self.last();
        loop {
            if seen == CLOSED {
                return Taken::Limit;
            }
            let (limit, machine) = (self.limit(), shape.machine(seen));
            let first = (seen + 1).max(shape.first_at(machine, earliest));
            if first >= limit {
                return Taken::Limit;
            }
            if shape.timestamp(first) > latest {
                return Taken::Wait { timestamp: shape.timestamp(first) };
            }
            let last = (first + (n - 1)).min(limit - 1);
            let last = if shape.timestamp(last) > latest { shape.first_at(machine, latest + 1) - 1 } else { last };
            match self.advance(seen, last) {
                Ok(()) => return Taken::Words { first, n: last - first + 1 },
                Err(other) => seen = other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fence::Fence;
    use super::*;
    use crate::layout::Layout;

    const SHAPE: Shape = Shape::of(Layout::DEFAULT);

    fn opened(start: u64, end: u64) -> Word {
        let word = Word::closed();
        word.open(SHAPE.before(Fence { machine: 5, start, end }), SHAPE.first_at(5, end));
        word
    }

    fn take(word: &Word, n: u64, now: u64) -> Taken {
        word.take_by_time(SHAPE, n, || now)
    }

    #[test]
    fn the_timestamp_is_now_and_the_count_starts_again_each_millisecond() {
        let word = opened(10, 1000);
        assert_eq!(take(&word, 1, 10), Taken::Words { first: SHAPE.first_at(5, 10), n: 1 });
        assert_eq!(take(&word, 1, 10), Taken::Words { first: SHAPE.first_at(5, 10) + 1, n: 1 });
        assert_eq!(take(&word, 1, 500), Taken::Words { first: SHAPE.first_at(5, 500), n: 1 });
    }

    #[test]
    fn a_clock_behind_the_word_waits_and_never_goes_back() {
        let word = opened(10, 1000);
        assert_eq!(take(&word, 1, 9), Taken::Wait { timestamp: 10 });
        assert_eq!(take(&word, 1, 20), Taken::Words { first: SHAPE.first_at(5, 20), n: 1 });
        assert_eq!(take(&word, 1, 15), Taken::Wait { timestamp: 20 });
    }

    #[test]
    fn a_full_millisecond_gives_what_is_left_and_then_waits() {
        let word = opened(10, 1000);
        assert_eq!(take(&word, 8000, 10), Taken::Words { first: SHAPE.first_at(5, 10), n: 8000 });
        assert_eq!(take(&word, 8000, 10), Taken::Words { first: SHAPE.first_at(5, 10) + 8000, n: 192 });
        assert_eq!(take(&word, 1, 10), Taken::Wait { timestamp: 11 });
        assert_eq!(take(&word, 1, 11), Taken::Words { first: SHAPE.first_at(5, 11), n: 1 });
    }

    #[test]
    fn words_between_two_times_cross_milliseconds_and_end_with_the_latest_or_the_fence() {
        let word = opened(10, 1000);
        let take = |n, earliest, latest| word.take_between(SHAPE, n, earliest, latest);
        assert_eq!(take(8193, 20, 30), Taken::Words { first: SHAPE.first_at(5, 20), n: 8193 });
        assert_eq!(take(1, 15, 30), Taken::Words { first: SHAPE.first_at(5, 21) + 1, n: 1 });
        assert_eq!(take(20_000, 22, 23), Taken::Words { first: SHAPE.first_at(5, 22), n: 16_384 });
        assert_eq!(take(1, 22, 23), Taken::Wait { timestamp: 24 });
        assert_eq!(take(20_000, 998, u64::MAX >> 22), Taken::Words { first: SHAPE.first_at(5, 998), n: 16_384 });
        assert_eq!(take(1, 998, u64::MAX >> 22), Taken::Limit);
        word.close();
        assert_eq!(take(1, 10, 10), Taken::Limit);
    }

    #[test]
    fn the_fences_end_is_a_limit_whatever_the_clock_says() {
        let word = opened(10, 12);
        assert!(matches!(take(&word, 1, 11), Taken::Words { .. }));
        assert_eq!(take(&word, 1, 12), Taken::Limit);
        assert_eq!(take(&word, 1, u64::MAX >> 22), Taken::Limit);
        word.close();
        assert_eq!(take(&word, 1, 11), Taken::Limit);
    }
}
