//! Wide sequences under a clock that moves only when told.

use std::sync::Mutex;
use std::time::Duration;

use proptest::prelude::*;

use super::super::bench::{Bench, LAYOUT};
use super::*;
use crate::clock::{Clock, SystemClock};
use crate::nonce::{Doubt, Extend, Loss, Opening, Why};

const WIDE: [Size; 2] = [Size::Bits96, Size::Bits128];

fn parts(size: Size, nonce: u128) -> (u64, u64, u64) {
    assert!(LAYOUT.fits_sized(size, nonce));
    let parts = LAYOUT.unpack_sized(size, nonce);
    (parts.machine, parts.timestamp, parts.count)
}

#[test]
fn a_counter_keeps_the_leases_start_and_both_sizes_share_its_counts() {
    let bench = Bench::new();
    bench.open(5, 1000, 2000);
    let source = bench.wide_source(Order::Counter);
    assert_eq!(parts(Size::Bits96, source.next(Size::Bits96).unwrap()), (5, 1000, 0));
    bench.pass(900);
    let again = bench.wide_source(Order::Counter);
    assert_eq!(parts(Size::Bits128, again.next(Size::Bits128).unwrap()), (5, 1000, 1));
    let mut nonces = [0; 900];
    source.fill(Size::Bits96, &mut nonces).unwrap();
    let counts: Vec<_> = nonces.iter().map(|&nonce| parts(Size::Bits96, nonce)).collect();
    assert_eq!(counts, (2..902).map(|count| (5, 1000, count)).collect::<Vec<_>>());
}

#[test]
fn a_sortable_nonce_has_the_time_and_waits_where_a_millisecond_is_full() {
    let bench = Bench::new();
    bench.open(5, 1000, 2000);
    let source = bench.wide_source(Order::Sortable);
    bench.pass(1);
    assert_eq!(parts(Size::Bits96, source.next(Size::Bits96).unwrap()), (5, 1000, 0));
    bench.pass(7);
    assert_eq!(parts(Size::Bits128, source.next(Size::Bits128).unwrap()), (5, 1007, 0));
    assert_eq!(parts(Size::Bits96, source.next(Size::Bits96).unwrap()), (5, 1007, 1));
    source.set((1007 << 22) + (1 << 22) - 3);
    let last = (1 << 22) - 1;
    let mut nonces = [0; 2];
    source.fill(Size::Bits96, &mut nonces).unwrap();
    assert_eq!(nonces.map(|nonce| parts(Size::Bits96, nonce)), [(5, 1007, last - 1), (5, 1007, last)]);
    let clock = bench.clock.clone();
    let waiting = std::thread::spawn(move || parts(Size::Bits96, source.next(Size::Bits96).unwrap()));
    // The waiting thread spins on the clock, so moving it is all that can end the wait.
    clock.advance(Duration::from_millis(1));
    assert_eq!(waiting.join().unwrap(), (5, 1008, 0));
}

#[test]
fn without_a_lease_the_reason_is_told() {
    let bench = Bench::new();
    for order in [Order::Counter, Order::Sortable] {
        assert_eq!(bench.wide_source(order).next(Size::Bits96).unwrap_err().code(), Code::NotReady);
    }
    bench.open(7, 100, 200);
    bench.factory.close(Why::Lost { machine: 7, loss: Loss::Rejected });
    for order in [Order::Counter, Order::Sortable] {
        let error = bench.wide_source(order).next(Size::Bits128).unwrap_err();
        assert_eq!((error.code(), error.fields().reason), (Code::LeaseLost, Some("rejected")));
    }
    bench.factory.close(Why::Closed);
    assert_eq!(bench.wide_source(Order::Counter).next(Size::Bits96).unwrap_err().code(), Code::Closed);
}

#[test]
fn an_expired_lease_gives_nothing_until_it_is_renewed() {
    let bench = Bench::new();
    bench.open(5, 1000, 1002);
    let sources = [Order::Counter, Order::Sortable].map(|order| bench.wide_source(order));
    bench.pass(2);
    for source in &sources {
        source.next(Size::Bits96).unwrap();
    }
    bench.pass(1);
    for source in &sources {
        for size in WIDE {
            let error = source.next(size).unwrap_err();
            assert_eq!((error.code(), error.fields().reason), (Code::LeaseLost, Some("expired")));
        }
    }
    bench.factory.renew(&Opening { now: 1100, ..bench.opening(5, 1000, 3000, None) });
    assert_eq!(parts(Size::Bits96, sources[0].next(Size::Bits96).unwrap()), (5, 1000, 1));
    assert_eq!(parts(Size::Bits96, sources[1].next(Size::Bits96).unwrap()), (5, 1100, 0));
}

#[test]
fn closing_yields_the_latest_use_and_a_new_lease_begins_new_counts() {
    let bench = Bench::new();
    bench.open(5, 1000, 9000);
    let (counter, sortable) = (bench.wide_source(Order::Counter), bench.wide_source(Order::Sortable));
    assert_eq!(bench.factory.close(Why::NotReady), Some(999));
    bench.open(5, 1000, 9000);
    bench.pass(500);
    counter.next(Size::Bits96).unwrap();
    assert_eq!(bench.factory.close(Why::NotReady), Some(1000));
    bench.open(5, 2000, 9000);
    bench.pass(300);
    sortable.next(Size::Bits128).unwrap();
    assert_eq!(bench.factory.close(Why::NotReady), Some(2299));
    bench.open(6, 3000, 9000);
    counter.set(3 << 45);
    assert_eq!(bench.factory.close(Why::NotReady), Some(3002));
    bench.open(7, 4000, 9000);
    assert_eq!(parts(Size::Bits96, counter.next(Size::Bits96).unwrap()), (7, 4000, 0));
}

/// A sequence made in the middle of a lease counts in its fence, and is closed with it.
#[test]
fn a_space_of_its_own_has_counts_of_its_own() {
    let bench = Bench::new();
    bench.open(5, 1000, 9000);
    let space = |name: &str| Space::new(Order::Counter, LAYOUT).named(name);
    let named = |name: &str| bench.factory.wide_source(space(name)).unwrap();
    for (name, count) in [("a", 0), ("b", 0), ("a", 1)] {
        assert_eq!(parts(Size::Bits96, named(name).next(Size::Bits96).unwrap()), (5, 1000, count));
    }
    let source = bench.factory.source(space("a")).unwrap();
    bench.pass(1);
    assert_eq!(LAYOUT.unpack(source.next().unwrap()).count, 0);
    bench.factory.close(Why::NotReady);
    assert_eq!(named("a").next(Size::Bits96).unwrap_err().code(), Code::NotReady);
    for other in [Space::new(Order::Sortable, LAYOUT).named("a"), space("a").encrypted(7)] {
        assert_eq!(bench.factory.wide_source(other).unwrap_err().fields().option, Some("space"));
    }
    assert!(
        bench.factory.source(Space::new(Order::Sortable, LAYOUT).named("b")).is_ok(),
        "64 bits have their own names"
    );
}

#[test]
fn the_end_of_the_layout_and_of_the_counts_are_errors_never_a_wrap() {
    let bench = Bench::new();
    bench.open(511, LAYOUT.end() - 2, LAYOUT.end());
    bench.pass(1);
    let (counter, sortable) = (bench.wide_source(Order::Counter), bench.wide_source(Order::Sortable));
    assert_eq!(parts(Size::Bits96, sortable.next(Size::Bits96).unwrap()), (511, LAYOUT.end() - 2, 0));
    // The carry of 96 bits stops at the fence's end; 128 bits go on.
    counter.set((2 << 45) - 1);
    assert_eq!(parts(Size::Bits96, counter.next(Size::Bits96).unwrap()), (511, LAYOUT.end() - 1, (1 << 45) - 1));
    assert_eq!(counter.next(Size::Bits96).unwrap_err().code(), Code::Time);
    counter.set(CLOSED - 3);
    let mut nonces = [0; 3];
    assert_eq!(counter.fill(Size::Bits128, &mut nonces).unwrap_err().code(), Code::Time);
    assert_eq!(parts(Size::Bits128, nonces[1]), (511, LAYOUT.end() - 2, CLOSED - 2));
    for _ in 0..3 {
        assert!(counter.next(Size::Bits128).unwrap_err().message().contains("2^64"));
    }
    bench.pass(u64::from(u32::MAX));
    for source in [counter, sortable] {
        assert_eq!(source.next(Size::Bits128).unwrap_err().code(), Code::Time);
    }
}

#[test]
fn nonces_of_64_bits_are_not_counted_here() {
    let bench = Bench::new();
    bench.open(5, 1000, 9000);
    let error = bench.wide_source(Order::Counter).next(Size::Bits64).unwrap_err();
    assert_eq!((error.code(), error.fields().option), (Code::Config, Some("bits")));
}

/// Promises a second more than it is asked for.
#[derive(Default)]
struct Promise(Mutex<Vec<u64>>);

impl Extend for Promise {
    fn extend(&self, unix_ms: u64) -> Result<u64, Error> {
        self.0.lock().unwrap().push(unix_ms);
        Ok(unix_ms + 1000)
    }
}

#[test]
fn a_fence_that_can_be_extended_goes_on_after_any_pause() {
    let bench = Bench::new();
    let promise = Arc::new(Promise::default());
    bench.factory.open(bench.opening(5, 1000, 1010, Some(promise.clone())));
    let (counter, sortable) = (bench.wide_source(Order::Counter), bench.wide_source(Order::Sortable));
    bench.pass(3_600_000);
    assert_eq!(parts(Size::Bits96, sortable.next(Size::Bits96).unwrap()), (5, 3_600_999, 0));
    assert_eq!(parts(Size::Bits96, counter.next(Size::Bits96).unwrap()), (5, 1000, 0));
    assert_eq!(*promise.0.lock().unwrap(), [LAYOUT.unix_ms(3_600_999)]);
}

/// `i` machines one after the other, as a machine ID changes hands: nobody may get a nonce outside its fence, nor twice.
#[test]
fn closing_while_threads_count_lets_nothing_out_past_what_it_yields() {
    for (order, size) in [Order::Counter, Order::Sortable].into_iter().flat_map(|order| WIDE.map(|size| (order, size)))
    {
        let factory = Arc::new(Factory::new(LAYOUT, Arc::new(SystemClock)));
        let arrived = SystemClock.tick();
        let mut all = Vec::new();
        for round in 0..20_u64 {
            let (start, machine) = (1_000_000 + round * 1000, (round % 2) as u32);
            let fence = Fence { machine, start, end: start + 1000 };
            factory.open(Opening { fence, now: start, arrived, extend: None, doubt: Doubt::new(|| {}) });
            let (nonces, last_used) = std::thread::scope(|scope| {
                let workers: Vec<_> = (0..3)
                    .map(|_| {
                        let source = factory.wide_source(Space::new(order, LAYOUT)).unwrap();
                        scope.spawn(move || {
                            std::iter::from_fn(|| source.next(size).ok()).take(20_000).collect::<Vec<_>>()
                        })
                    })
                    .collect();
                let last_used = factory.close(Why::NotReady).unwrap();
                (workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>(), last_used)
            });
            for &nonce in &nonces {
                let (found, timestamp, _) = parts(size, nonce);
                assert!(found == u64::from(machine) && (start..=last_used).contains(&timestamp), "{nonce:x}");
            }
            all.extend(nonces);
        }
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}

proptest! {
    /// In every layout, whatever is taken: in the fence, in order, and never twice.
    #[test]
    fn every_layout_counts_inside_its_fence(
        layout in crate::layout::tests::layouts(), sortable: bool, takes in prop::collection::vec((1_u64..5000, 0_u64..3, any::<bool>()), 1..30),
    ) {
        let order = if sortable { Order::Sortable } else { Order::Counter };
        let fence = Fence { machine: layout.machines() - 1, start: 10, end: 25 };
        let sequence = Sequence::open(order, layout, fence);
        let (mut now, mut last) = (9, None);
        for (n, passed, wide) in takes {
            now += passed;
            let size = WIDE[usize::from(wide)];
            match sequence.take(size, n, || now) {
                Taken::Counts { first, n: taken } => {
                    prop_assert!(taken >= 1 && taken <= n);
                    prop_assert!((10..25).contains(&first.timestamp) && now < 25);
                    prop_assert!(sortable || first.timestamp == 10);
                    prop_assert!(!sortable || first.timestamp <= now);
                    prop_assert_eq!(first.machine, u64::from(layout.machines() - 1));
                    let key = (first.timestamp, first.count);
                    prop_assert!(last.is_none_or(|last| last < key), "{:?} {:?}", last, key);
                    last = Some((first.timestamp, first.count + taken - 1));
                    let end = Parts { count: first.count + taken - 1, ..first };
                    prop_assert_eq!(layout.unpack_sized(size, layout.pack_sized(size, end)), end);
                }
                Taken::Wait { timestamp } => prop_assert!(sortable && timestamp > now),
                Taken::Limit => prop_assert!(now >= 25),
            }
        }
        prop_assert_eq!(sequence.close(), last.map(|(timestamp, _)| timestamp));
        prop_assert_eq!(sequence.close(), None);
    }
}
