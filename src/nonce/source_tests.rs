//! Partitions, layouts of their own, names, drift and given times, under a clock that moves only when told.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::super::bench::{Bench, LAYOUT};
use super::*;
use crate::clock::Clock;
use crate::error::Code;
use crate::layout::{Layout, Parts};
use crate::nonce::{Doubt, Extend, Fence, Opening, Why};

fn layout(partition: u32, machine: u32, sequence: u32, epoch_ms: u64) -> Layout {
    Layout::new(partition, 41, machine, sequence, epoch_ms).unwrap()
}

/// A factory in a layout with partitions and four counts a millisecond.
fn bench_of(layout: Layout) -> Bench {
    let bench = Bench::new();
    Bench { factory: Arc::new(Factory::new(layout, bench.clock.clone())), clock: bench.clock }
}

fn parts(partition: u64, timestamp: u64, machine: u64, count: u64) -> Parts {
    Parts { partition, timestamp, machine, count }
}

mod partitions_and_layouts {
    use super::*;

    #[test]
    fn each_partition_has_its_own_sequence_and_its_own_bits() {
        let layout = layout(4, 9, 10, 1000);
        let bench = bench_of(layout);
        bench.open(5, 1000, 9000);
        bench.pass(1);
        for order in [Order::Counter, Order::Sortable] {
            let source = |partition| {
                let space = Space::new(order, layout).in_partition(partition).unwrap();
                bench.factory.source(space).unwrap()
            };
            for (partition, count) in [(0, 0), (15, 0), (7, 0), (15, 1), (0, 1), (15, 2)] {
                let nonce = source(partition).next().unwrap();
                assert_eq!(layout.unpack(nonce), parts(partition, 1000, 5, count));
            }
            assert_eq!(source(0).in_partition(16).unwrap_err().fields().option, Some("partition"));
            let mut block = [0; 3];
            source(3).in_partition(15).unwrap().fill(&mut block).unwrap();
            assert_eq!(block.map(|nonce| layout.unpack(nonce)), [3, 4, 5].map(|count| parts(15, 1000, 5, count)));
        }
    }

    #[test]
    fn a_layout_of_its_own_counts_in_the_same_fence() {
        let bench = Bench::new();
        // Two minutes younger than the factory's layout, and no room for its timestamps.
        let younger = layout(2, 10, 9, LAYOUT.epoch_ms() + 120_000);
        bench.open(5, 200_000, 201_000);
        bench.pass(501);
        let of = |order| bench.factory.source(Space::new(order, younger)).unwrap();
        let (counter, sortable) = (of(Order::Counter), of(Order::Sortable));
        assert_eq!(younger.unpack(counter.next().unwrap()), parts(0, 80_000, 5, 0));
        assert_eq!(younger.unpack(sortable.next().unwrap()), parts(0, 80_500, 5, 0));
        assert_eq!(LAYOUT.unpack(bench.source(Order::Sortable).next().unwrap()), parts(0, 200_500, 5, 0));
        bench.pass(500);
        assert_eq!(sortable.next().unwrap_err().fields().reason, Some("expired"));
        bench.factory.renew(&Opening { now: 201_000, ..bench.opening(5, 200_000, 202_000, None) });
        assert_eq!(younger.unpack(sortable.next().unwrap()), parts(0, 81_000, 5, 0));
        assert_eq!(bench.factory.close(Why::NotReady), Some(201_000));
        assert_eq!(sortable.next().unwrap_err().code(), Code::NotReady);
    }

    #[test]
    fn a_layout_that_the_lease_does_not_lie_in_counts_nothing() {
        let bench = Bench::new();
        bench.open(5, 1000, 9000);
        bench.pass(1);
        for epoch_ms in [LAYOUT.epoch_ms() + 1000, LAYOUT.epoch_ms() + 5000] {
            for order in [Order::Counter, Order::Sortable] {
                let source = bench.factory.source(Space::new(order, layout(0, 9, 13, epoch_ms))).unwrap();
                assert_eq!(source.next().unwrap_err().code(), Code::Time);
            }
        }
        // Its 2^32 milliseconds are over before the lease is.
        let short = Layout::new(0, 32, 9, 13, LAYOUT.unix_ms(1500) - (1 << 32) + 1).unwrap();
        let source = bench.factory.source(Space::new(Order::Sortable, short)).unwrap();
        assert_eq!(short.unix_ms(short.unpack(source.next().unwrap()).timestamp), LAYOUT.unix_ms(1000));
        bench.pass(499);
        assert!(source.next().is_ok());
        bench.pass(1);
        assert_eq!(source.next().unwrap_err().code(), Code::Time);
        assert!(bench.source(Order::Sortable).next().is_ok());
    }

    #[test]
    fn a_layout_with_fewer_machine_ids_is_refused() {
        let bench = Bench::new();
        let error = bench.factory.source(Space::new(Order::Counter, layout(0, 8, 13, 0))).unwrap_err();
        assert_eq!((error.code(), error.fields().option), (Code::Config, Some("layout")));
        let (none, wide) = (layout(0, 0, 22, 1000), layout(0, 20, 2, 1000));
        let bench = bench_of(none);
        bench.open(0, 1000, 9000);
        bench.pass(1);
        let of = |layout| bench.factory.source(Space::new(Order::Counter, layout)).unwrap().next().unwrap();
        assert_eq!(none.unpack(of(none)), parts(0, 1000, 0, 0));
        assert_eq!(wide.unpack(of(wide)), parts(0, 1000, 0, 0));
        let bench = bench_of(wide);
        bench.open(32_767, 1000, 9000);
        bench.pass(1);
        let source = bench.factory.source(Space::new(Order::Sortable, wide)).unwrap();
        assert_eq!(wide.unpack(source.next().unwrap()), parts(0, 1000, 32_767, 0));
    }

    #[test]
    fn a_name_stands_for_one_kind_layout_and_encryption() {
        let bench = Bench::new();
        let orders = Space::new(Order::Counter, LAYOUT).named("orders");
        assert!(bench.factory.source(orders.clone()).is_ok());
        assert!(bench.factory.source(orders.clone().in_partition(0).unwrap()).is_ok());
        for other in [
            Space::new(Order::Sortable, LAYOUT).named("orders"),
            Space::new(Order::Counter, layout(0, 9, 13, 5)).named("orders"),
            orders.clone().encrypted(7),
        ] {
            let error = bench.factory.source(other.clone()).unwrap_err();
            assert_eq!((error.code(), error.fields().option), (Code::Config, Some("space")), "{other:?}");
            assert!(bench.factory.source(other.clone().named(&format!("{other:?}"))).is_ok());
        }
        bench.open(5, 1000, 9000);
        bench.pass(1);
        let count = |space: &Space| LAYOUT.unpack(bench.factory.source(space.clone()).unwrap().next().unwrap()).count;
        let default = Space::new(Order::Counter, LAYOUT);
        assert_eq!([&orders, &default, &orders, &default].map(count), [0, 0, 1, 1]);
    }
}

mod drift {
    use super::*;

    /// Four counts a millisecond.
    fn narrow() -> Layout {
        layout(0, 20, 2, 1000)
    }

    fn source(bench: &Bench, overflow: Overflow) -> Source {
        bench.factory.source(Space::new(Order::Sortable, narrow())).unwrap().with_overflow(overflow)
    }

    fn at(source: &Source) -> (u64, u64) {
        let parts = narrow().unpack(source.next().unwrap());
        (parts.timestamp, parts.count)
    }

    #[test]
    fn a_full_millisecond_goes_on_into_the_next() {
        let bench = bench_of(narrow());
        bench.open(5, 1000, 9000);
        bench.pass(1);
        let source = source(&bench, Overflow::Drift);
        let taken: Vec<_> = (0..6).map(|_| at(&source)).collect();
        assert_eq!(taken, [(1000, 0), (1000, 1), (1000, 2), (1000, 3), (1001, 0), (1001, 1)]);
        let mut block = [0; 9];
        source.fill(&mut block).unwrap();
        assert_eq!(narrow().unpack(block[8]), parts(0, 1003, 5, 2));
        assert!(block.is_sorted());
        // Time catches up.
        bench.pass(10);
        assert_eq!(at(&source), (1010, 0));
        assert_eq!(bench.factory.close(Why::NotReady), Some(1010));
    }

    #[test]
    fn it_never_passes_the_fences_end_and_is_told_apart_from_an_expired_lease() {
        let bench = bench_of(narrow());
        bench.open(5, 1000, 1100);
        bench.pass(1);
        let source = source(&bench, Overflow::Drift);
        let mut last = (0, 0);
        let error = loop {
            match source.next() {
                Ok(nonce) => last = (narrow().unpack(nonce).timestamp, narrow().unpack(nonce).count),
                Err(error) => break error,
            }
        };
        assert_eq!((last, error.code()), ((1099, 3), Code::Time));
        assert!(error.message().contains("100 ms ahead"), "{error}");
        bench.factory.renew(&bench.opening(5, 1000, 2000, None));
        assert_eq!(at(&source), (1100, 0));
        bench.pass(5000);
        assert_eq!(source.next().unwrap_err().fields().reason, Some("expired"));
    }

    #[test]
    fn it_stays_within_five_minutes_of_time() {
        let bench = bench_of(narrow());
        bench.open(5, 1000, 10_000_000);
        bench.pass(1);
        let source = source(&bench, Overflow::Drift);
        source.next_at(narrow().unix_ms(300_998)).unwrap();
        source.fill(&mut [0; 4 * 3 - 1]).unwrap();
        let clock = bench.clock.clone();
        let other = source.clone();
        let waiting = std::thread::spawn(move || at(&other));
        clock.advance(Duration::from_millis(1));
        assert_eq!(waiting.join().unwrap(), (301_001, 0));
        // Who waits instead of drifting is not kept for minutes.
        let error = self::source(&bench, Overflow::Wait).next().unwrap_err();
        assert_eq!(error.code(), Code::Time);
        bench.pass(300_000);
        assert_eq!(at(&self::source(&bench, Overflow::Wait)), (301_001, 1));
    }

    /// Without anybody who keeps the end, the next process begins at its clock: nothing may lie ahead of that.
    #[test]
    fn an_unguarded_identity_does_not_drift() {
        let bench = bench_of(narrow());
        bench.open(5, 1000, narrow().end());
        bench.pass(1);
        let source = source(&bench, Overflow::Drift);
        source.fill(&mut [0; 4]).unwrap();
        let clock = bench.clock.clone();
        let waiting = std::thread::spawn(move || at(&source));
        clock.advance(Duration::from_millis(1));
        assert_eq!(waiting.join().unwrap(), (1001, 0));
        assert_eq!(bench.factory.times_ahead(), 0);
    }

    #[test]
    fn it_is_told_at_most_once_a_second_and_counted_each_time() {
        let bench = bench_of(narrow());
        let (tell, told) = channel();
        bench.factory.on_ahead(move |space| tell.send(space.clone()).unwrap());
        bench.open(5, 1000, 100_000);
        bench.pass(1);
        let source = source(&bench, Overflow::Drift);
        let drift = |n| (0..n).for_each(|_| _ = source.next().unwrap());
        drift(4);
        assert_eq!((told.try_iter().count(), bench.factory.times_ahead()), (0, 0));
        drift(5);
        assert_eq!(told.try_iter().collect::<Vec<_>>(), std::slice::from_ref(&source.space));
        assert_eq!(bench.factory.times_ahead(), 5);
        bench.pass(999);
        drift(5);
        assert_eq!((told.try_iter().count(), bench.factory.times_ahead()), (0, 6));
        bench.pass(1);
        drift(5);
        assert_eq!((told.try_iter().count(), bench.factory.times_ahead()), (1, 8));
    }
}

mod given_times {
    use super::*;

    fn at(source: &Source, timestamp: u64) -> Result<(u64, u64), Error> {
        let parts = LAYOUT.unpack(source.next_at(LAYOUT.unix_ms(timestamp))?);
        Ok((parts.timestamp, parts.count))
    }

    #[test]
    fn the_time_is_the_one_that_was_given_and_never_goes_back() {
        let bench = Bench::new();
        bench.open(5, 1000, 9000);
        bench.pass(1001);
        let source = bench.source(Order::Sortable);
        assert_eq!(at(&source, 1500), Ok((1500, 0)));
        assert_eq!(at(&source, 1500), Ok((1500, 1)));
        assert_eq!(at(&source, 1200), Ok((1500, 2)));
        assert_eq!(at(&source, 1501), Ok((1501, 0)));
        assert_eq!(LAYOUT.unpack(source.next().unwrap()).timestamp, 2000);
        assert_eq!(at(&source, 1501), Ok((2000, 1)));
        // Ahead of lease time, and then lease time again: waited for.
        assert_eq!(at(&source, 2003), Ok((2003, 0)));
        let (clock, other) = (bench.clock.clone(), source.clone());
        let waiting = std::thread::spawn(move || LAYOUT.unpack(other.next().unwrap()));
        clock.advance(Duration::from_millis(3));
        assert_eq!(waiting.join().unwrap(), parts(0, 2003, 5, 1));
        assert_eq!(at(&source, 5000), Ok((5000, 0)));
        assert_eq!(source.next().unwrap_err().code(), Code::Time);
        assert_eq!(bench.factory.close(Why::NotReady), Some(5000));
        assert_eq!(at(&source, 5000).unwrap_err().code(), Code::NotReady);
    }

    #[test]
    fn times_outside_the_fence_or_far_ahead_are_refused() {
        let bench = Bench::new();
        bench.open(5, 1_000_000, 2_000_000);
        bench.pass(1);
        let source = bench.source(Order::Sortable);
        for timestamp in [0, 999_999, 1_300_001, 1_999_999, 2_000_000, LAYOUT.end() - 1] {
            let error = at(&source, timestamp).unwrap_err();
            assert_eq!(error.code(), Code::Time, "{timestamp}");
            assert!(error.message().contains(&LAYOUT.unix_ms(timestamp).to_string()), "{error}");
        }
        for outside in [0, LAYOUT.epoch_ms() - 1, LAYOUT.end_unix_ms(), u64::MAX] {
            assert_eq!(source.next_at(outside).unwrap_err().code(), Code::Time);
        }
        assert_eq!(at(&source, 1_000_000), Ok((1_000_000, 0)));
        assert_eq!(at(&source, 1_300_000), Ok((1_300_000, 0)));
        bench.pass(1_000_000);
        assert_eq!(at(&source, 1_500_000).unwrap_err().fields().reason, Some("expired"));
        let error = bench.source(Order::Counter).next_at(LAYOUT.unix_ms(1_300_000)).unwrap_err();
        assert_eq!((error.code(), error.fields().option), (Code::Config, Some("time")));
    }

    /// Nobody keeps what was used there: a time ahead is waited for, or refused.
    #[test]
    fn an_unguarded_identity_is_never_ahead_of_time() {
        let bench = Bench::new();
        bench.open(5, 1000, LAYOUT.end());
        bench.pass(1);
        let source = bench.source(Order::Sortable);
        assert_eq!(at(&source, 2001).unwrap_err().code(), Code::Time);
        let (clock, other) = (bench.clock.clone(), source.clone());
        let waiting = std::thread::spawn(move || at(&other, 1003).unwrap());
        clock.advance(Duration::from_millis(3));
        assert_eq!(waiting.join().unwrap(), (1003, 0));
    }

    /// Promises what it is asked for and a second more.
    #[derive(Default)]
    struct Promise(Mutex<Vec<u64>>);

    impl Extend for Promise {
        fn extend(&self, unix_ms: u64) -> Result<u64, Error> {
            self.0.lock().unwrap().push(unix_ms);
            Ok(unix_ms + 1000)
        }
    }

    #[test]
    fn a_fence_that_can_be_extended_is_brought_up_to_the_present_first() {
        let bench = Bench::new();
        let promise = Arc::new(Promise::default());
        bench.factory.open(bench.opening(5, 1000, 2000, Some(promise.clone())));
        let source = bench.source(Order::Sortable);
        bench.pass(600_001);
        assert_eq!(at(&source, 601_000), Ok((601_000, 0)));
        assert_eq!(*promise.0.lock().unwrap(), [LAYOUT.unix_ms(601_000)]);
        assert_eq!(at(&source, 602_000).unwrap_err().code(), Code::Time);
    }
}

/// Fences of one machine ID that follow each other; whatever is taken lies in them, and nothing twice.
#[test]
fn drifting_and_given_times_never_leave_the_fence_whatever_threads_do() {
    let layout = layout(0, 16, 6, 0);
    let clock = crate::clock::SystemClock;
    let factory = Arc::new(Factory::new(layout, Arc::new(clock)));
    let arrived = clock.tick();
    let mut all = Vec::new();
    for round in 0..10_u64 {
        let start = 1_000_000 + round * 300;
        let fence = Fence { machine: 3, start, end: start + 300 };
        factory.open(Opening { fence, now: start, arrived, extend: None, doubt: Doubt::new(|| {}) });
        let counting = AtomicU64::new(0);
        let (nonces, last_used) = std::thread::scope(|scope| {
            let source = factory.source(Space::new(Order::Sortable, layout)).unwrap();
            let [drifting, given] = [source.clone().with_overflow(Overflow::Drift), source];
            let begun = |nonce| {
                counting.fetch_add(1, Ordering::Relaxed);
                nonce
            };
            let workers = [
                scope.spawn(move || {
                    std::iter::from_fn(|| drifting.next().ok().map(begun)).take(20_000).collect::<Vec<_>>()
                }),
                scope.spawn(move || {
                    (0..20_000).map_while(|i| given.next_at(start + i % 300).ok().map(begun)).collect::<Vec<_>>()
                }),
            ];
            while counting.load(Ordering::Relaxed) < 100 {
                std::hint::spin_loop();
            }
            let last_used = factory.close(Why::NotReady).unwrap();
            (workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>(), last_used)
        });
        assert!(nonces.iter().all(|nonce| (start..=last_used).contains(&layout.unpack(*nonce).timestamp)));
        all.extend(nonces);
    }
    let distinct: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
}
