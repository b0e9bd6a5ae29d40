//! Consecutive words: load, one comparison, compare-and-swap. No clock is read here; throttling, expiry and loss all show
//! as a limit that was reached.

use super::word::Word;

impl Word {
    /// Takes `n` (at least 1) consecutive words and returns the first, or `None` when the slow path must look.
    #[inline]
    pub(super) fn take_consecutive(&self, n: u64) -> Option<u64> {
        let mut seen = self.last();
        loop {
            // Saturating: CLOSED plus anything stays at or above every limit, so one comparison covers it.
            let last = seen.saturating_add(n);
            if last >= self.limit() {
                return None;
            }
            match self.advance(seen, last) {
                Ok(()) => return Some(seen + 1),
                Err(other) => seen = other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::word::CLOSED;
    use super::*;

    #[test]
    fn words_are_consecutive_up_to_the_limit_and_a_refusal_writes_nothing() {
        let word = Word::closed();
        word.open(99, 104);
        assert_eq!(word.take_consecutive(1), Some(100));
        assert_eq!(word.take_consecutive(4), None);
        assert_eq!(word.last(), 100);
        assert_eq!(word.take_consecutive(3), Some(101));
        assert_eq!(word.take_consecutive(1), None);
    }

    #[test]
    fn closed_is_never_counted_on() {
        let word = Word::closed();
        word.open(99, u64::MAX);
        assert_eq!(word.close(), 99);
        assert_eq!(word.take_consecutive(1), None);
        assert_eq!(word.last(), CLOSED);
    }

    #[test]
    fn threads_never_share_a_word() {
        let word = Word::closed();
        word.open(0, 400_001);
        let taken: Vec<u64> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|k| {
                    let word = &word;
                    scope.spawn(move || {
                        std::iter::from_fn(|| word.take_consecutive(k % 3 + 1).map(|first| (first, k % 3 + 1)))
                            .flat_map(|(first, n)| first..first + n)
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        let distinct: std::collections::HashSet<_> = taken.iter().collect();
        assert_eq!(distinct.len(), taken.len());
        assert!(taken.len() > 399_990);
    }
}
