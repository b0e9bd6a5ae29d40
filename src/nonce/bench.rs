//! A factory under a clock that moves only when told, for the tests beside it.

use std::sync::Arc;
use std::time::Duration;

use super::{Doubt, Extend, Factory, Fence, Opening, Order, Source, Space, WideSource};
use crate::clock::{Clock, ManualClock};
use crate::layout::Layout;

pub(super) const LAYOUT: Layout = Layout::DEFAULT;

pub(super) struct Bench {
    pub(super) clock: Arc<ManualClock>,
    pub(super) factory: Arc<Factory>,
}

impl Bench {
    pub(super) fn new() -> Self {
        let clock = Arc::new(ManualClock::default());
        Self { factory: Arc::new(Factory::new(LAYOUT, clock.clone())), clock }
    }

    pub(super) fn source(&self, order: Order) -> Source {
        self.factory.source(Space::new(order, LAYOUT)).unwrap()
    }

    pub(super) fn wide_source(&self, order: Order) -> WideSource {
        self.factory.wide_source(Space::new(order, LAYOUT)).unwrap()
    }

    /// A lease of `machine` for `[start, end)`, granted when the coordinator's clock showed `start - 1`.
    pub(super) fn open(&self, machine: u32, start: u64, end: u64) {
        self.factory.open(self.opening(machine, start, end, None));
    }

    pub(super) fn opening(&self, machine: u32, start: u64, end: u64, extend: Option<Arc<dyn Extend>>) -> Opening {
        Opening {
            fence: Fence { machine, start, end },
            now: start - 1,
            arrived: self.clock.tick(),
            extend,
            doubt: Doubt::new(|| {}),
        }
    }

    pub(super) fn pass(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
    }
}
