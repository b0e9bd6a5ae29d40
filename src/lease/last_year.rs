//! When the layout's time is running out.

use super::event::What;
use crate::layout::Layout;

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
}
