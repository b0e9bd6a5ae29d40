//! What an operator should know in time: that machine IDs are running out, or the layout's time, and what a coordinator says of its registry.

use super::event::What;
use crate::coordinator::{Caution, Usage};
use crate::layout::Layout;

/// At how many percent of the machine IDs there is a warning.
const MARKS: [u64; 2] = [50, 80];
/// A range of a few machine IDs is meant to be full.
const FEW: u32 = 10;

/// What was told, as of the last acquire.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    /// How many marks were passed.
    passed: usize,
    cautioned: bool,
    /// The day of the layout's last year.
    day: Option<u64>,
}

impl Warnings {
    /// What is new after an acquire.
    pub(super) fn after(&mut self, usage: Option<Usage>, caution: Option<Caution>) -> Vec<What> {
        let running_out = usage.and_then(|usage| self.running_out(usage));
        running_out.into_iter().chain(self.cautioned(caution)).collect()
    }

    /// How many days the layout has left, once a day of its last year.
    pub(super) fn ending(&mut self, layout: &Layout, unix_ms: u64) -> Option<What> {
        let days = layout.days_left(unix_ms)?;
        let end = layout.end_unix_ms();
        (self.day.replace(days) != Some(days)).then(|| What::Warning {
            code: "LAYOUT_ENDING",
            message: format!("the layout ends in {days} days, at {end} (ms since 1970): no IDs from then on"),
        })
    }

    /// Once: what it is about lasts.
    fn cautioned(&mut self, caution: Option<Caution>) -> Option<What> {
        let Caution { code, message } = caution.filter(|_| !self.cautioned)?;
        self.cautioned = true;
        Some(What::Warning { code, message })
    }

    /// A warning for each mark, once, when it is passed.
    fn running_out(&mut self, usage: Usage) -> Option<What> {
        let Usage { leased, capacity } = usage;
        if capacity <= FEW {
            return None;
        }
        let percent = u64::from(leased) * 100 / u64::from(capacity);
        let passed = MARKS.iter().filter(|mark| percent >= **mark).count();
        let before = std::mem::replace(&mut self.passed, passed);
        (passed > before).then(|| What::Warning {
            code: "MACHINE_IDS_RUNNING_OUT",
            message: format!("{leased} of {capacity} machine IDs are leased ({percent} %)"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_is_told_once_and_again_when_it_was_left() {
        let mut warnings = Warnings::default();
        let mut told = |leased| !warnings.after(Some(Usage { leased, capacity: 100 }), None).is_empty();
        let steps = [
            (49, false),
            (50, true),
            (79, false),
            (80, true),
            (100, false),
            (60, false),
            (85, true),
            (10, false),
            (55, true),
        ];
        for (leased, expected) in steps {
            assert_eq!(told(leased), expected, "{leased} %");
        }
    }

    #[test]
    fn a_few_machine_ids_may_all_be_leased() {
        assert_eq!(Warnings::default().after(Some(Usage { leased: 10, capacity: 10 }), None), []);
    }

    #[test]
    fn what_a_coordinator_says_is_told_once() {
        let mut warnings = Warnings::default();
        let caution = || Some(Caution { code: "REGISTRY_EVICTABLE", message: "may go".into() });
        assert_eq!(warnings.after(None, None), []);
        let told = What::Warning { code: "REGISTRY_EVICTABLE", message: "may go".into() };
        assert_eq!(warnings.after(None, caution()), [told]);
        assert_eq!(warnings.after(None, caution()), []);
    }

    #[test]
    fn the_last_year_is_told_once_a_day() {
        const DAY_MS: u64 = 86_400_000;
        let layout = Layout::DEFAULT;
        let mut warnings = Warnings::default();
        let mut told = |before_end: u64| warnings.ending(&layout, layout.end_unix_ms() - before_end).is_some();
        let steps = [
            (366 * DAY_MS, false),
            (365 * DAY_MS - 1, true),
            (364 * DAY_MS + 1, false),
            (364 * DAY_MS - 1, true),
            (363 * DAY_MS, false),
            (1, true),
            (1, false),
        ];
        for (before_end, expected) in steps {
            assert_eq!(told(before_end), expected, "{before_end}");
        }
    }
}
