//! When machine IDs are running out, or the layout's time.

use super::event::What;
use crate::coordinator::Usage;
use crate::layout::Layout;

/// At how many percent of the machine IDs there is a warning.
const MARKS: [u64; 2] = [50, 80];
/// A range of a few machine IDs is meant to be full.
const FEW: u32 = 10;

/// Which marks were passed, as of the last acquire.
#[derive(Debug, Default)]
pub(super) struct RunningOut {
    passed: usize,
}

impl RunningOut {
    /// A warning for each mark, once, when it is passed.
    pub(super) fn warning(&mut self, usage: Usage) -> Option<What> {
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

/// The day of the layout's last year that was told.
#[derive(Debug, Default)]
pub(super) struct LastYear {
    told: Option<u64>,
}

impl LastYear {
    /// A warning a day, as long as there are leases.
    pub(super) fn warning(&mut self, layout: &Layout, unix_ms: u64) -> Option<What> {
        let days = layout.days_left(unix_ms)?;
        let end = layout.end_unix_ms();
        (self.told.replace(days) != Some(days)).then(|| What::Warning {
            code: "LAYOUT_ENDING",
            message: format!("the layout ends in {days} days, at {end} (ms since 1970): no IDs from then on"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_year_is_told_once_a_day() {
        const DAY_MS: u64 = 86_400_000;
        let layout = Layout::DEFAULT;
        let mut last_year = LastYear::default();
        let mut told = |before_end: u64| last_year.warning(&layout, layout.end_unix_ms() - before_end).is_some();
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

    #[test]
    fn each_mark_is_told_once_and_again_when_it_was_left() {
        let mut running_out = RunningOut::default();
        let mut told = |leased| running_out.warning(Usage { leased, capacity: 100 }).is_some();
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
        assert_eq!(RunningOut::default().warning(Usage { leased: 10, capacity: 10 }), None);
    }
}
