//! The factory under a clock that moves only when told.

use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::super::bench::{Bench, LAYOUT};
use super::*;
use crate::error::Code;
use crate::nonce::Loss;

fn parts(nonce: u64) -> (u64, u64, u64) {
    let parts = LAYOUT.unpack(nonce);
    (parts.machine, parts.timestamp, parts.count)
}

#[test]
fn without_a_lease_the_reason_is_told() {
    let bench = Bench::new();
    for order in [Order::Counter, Order::Sortable] {
        let source = bench.source(order);
        assert_eq!(source.next().unwrap_err().code(), Code::NotReady);
    }
    bench.open(7, 100, 200);
    assert_eq!(bench.factory.close(Why::Lost { machine: 7, loss: Loss::Rejected }), Some(99));
    let error = bench.source(Order::Counter).next().unwrap_err();
    assert_eq!(
        (error.code(), error.fields().machine_id, error.fields().reason),
        (Code::LeaseLost, Some(7), Some("rejected"))
    );
    bench.factory.close(Why::Closed);
    bench.factory.close(Why::Lost { machine: 7, loss: Loss::Expired });
    assert_eq!(bench.source(Order::Counter).next().unwrap_err().code(), Code::Closed);
}

#[test]
fn a_counter_starts_at_the_fences_start_and_counts_on_into_the_timestamp() {
    let bench = Bench::new();
    bench.open(5, 1000, 2000);
    bench.pass(3);
    let source = bench.source(Order::Counter);
    let mut nonces = vec![0; 8193];
    source.fill(&mut nonces).unwrap();
    assert_eq!(nonces[0], 0x0000_0000_fa00_a000);
    assert_eq!(parts(nonces[8191]), (5, 1000, 8191));
    assert_eq!(parts(nonces[8192]), (5, 1001, 0));
}

#[test]
fn a_counter_waits_for_lease_time_instead_of_running_ahead() {
    let bench = Bench::new();
    bench.open(5, 1000, 2000);
    bench.pass(1);
    let source = bench.source(Order::Counter);
    source.fill(&mut vec![0; 8192]).unwrap();
    let clock = bench.clock.clone();
    let waiting = std::thread::spawn(move || source.next().unwrap());
    // The waiting thread spins on the clock, so moving it is all that can end the wait.
    clock.advance(Duration::from_millis(1));
    assert_eq!(parts(waiting.join().unwrap()), (5, 1001, 0));
}

#[test]
fn the_fences_end_ends_every_kind_whatever_the_clock_says() {
    let bench = Bench::new();
    bench.open(5, 1000, 1002);
    bench.pass(2);
    let (counter, sortable) = (bench.source(Order::Counter), bench.source(Order::Sortable));
    assert_eq!(parts(counter.next().unwrap()), (5, 1000, 0));
    assert_eq!(parts(sortable.next().unwrap()), (5, 1001, 0));
    bench.pass(3_600_000);
    for source in [&counter, &sortable] {
        let mut seen = Vec::new();
        let error = loop {
            match source.next() {
                Ok(nonce) => seen.push(nonce),
                Err(error) => break error,
            }
        };
        assert_eq!((error.code(), error.fields().reason), (Code::LeaseLost, Some("expired")));
        assert!(seen.iter().all(|nonce| (1000..1002).contains(&parts(*nonce).1)));
    }
}

#[test]
fn a_renewal_moves_the_end_and_lease_time_but_neither_of_them_back() {
    let bench = Bench::new();
    bench.open(5, 1000, 1002);
    let sortable = bench.source(Order::Sortable);
    bench.pass(10);
    assert_eq!(sortable.next().unwrap_err().code(), Code::LeaseLost);
    bench.factory.renew(&Opening { now: 1500, ..bench.opening(5, 1000, 3000, None) });
    assert_eq!(parts(sortable.next().unwrap()), (5, 1500, 0));
    bench.factory.renew(&Opening { now: 1100, ..bench.opening(5, 1000, 1400, None) });
    bench.pass(1);
    assert_eq!(parts(sortable.next().unwrap()), (5, 1501, 0));
}

#[test]
fn closing_yields_the_latest_use_of_all_sequences() {
    let bench = Bench::new();
    assert_eq!(bench.factory.close(Why::NotReady), None);
    bench.open(5, 1000, 9000);
    bench.pass(1);
    bench.source(Order::Counter).next().unwrap();
    bench.pass(700);
    bench.source(Order::Sortable).next().unwrap();
    assert_eq!(bench.factory.close(Why::NotReady), Some(1700));
}

#[test]
fn a_new_lease_begins_new_words_even_for_the_same_machine_id() {
    let bench = Bench::new();
    bench.open(5, 1000, 9000);
    bench.pass(10);
    let source = bench.source(Order::Counter);
    source.fill(&mut [0; 20]).unwrap();
    bench.factory.close(Why::NotReady);
    bench.open(5, 2000, 9000);
    bench.pass(1);
    assert_eq!(parts(source.next().unwrap()), (5, 2000, 0));
}

#[test]
fn sequences_made_in_the_middle_of_a_lease_count_in_its_fence() {
    let bench = Bench::new();
    bench.open(5, 1000, 9000);
    bench.pass(10);
    let named = |name: &str| bench.factory.source(Space::new(Order::Counter, LAYOUT).named(name)).unwrap();
    assert_eq!(parts(named("a").next().unwrap()), (5, 1000, 0));
    assert_eq!(parts(named("b").next().unwrap()), (5, 1000, 0));
    assert_eq!(parts(named("a").next().unwrap()), (5, 1000, 1));
}

/// Promises a second more than it is asked for, as often as it is allowed to.
struct Promise {
    left: AtomicUsize,
}

impl Extend for Promise {
    fn extend(&self, unix_ms: u64) -> Result<u64, Error> {
        self.left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .map(|_| unix_ms + 1000)
            .map_err(|_| Error::new(Code::Coordinator, "disk full"))
    }
}

#[test]
fn a_fence_that_can_be_extended_goes_on_after_any_pause() {
    let bench = Bench::new();
    let promise = Arc::new(Promise { left: AtomicUsize::new(2) });
    bench.factory.open(bench.opening(5, 1000, 1010, Some(promise)));
    let (counter, sortable) = (bench.source(Order::Counter), bench.source(Order::Sortable));
    bench.pass(3_600_000);
    assert_eq!(parts(sortable.next().unwrap()), (5, 3_600_999, 0));
    assert_eq!(parts(counter.next().unwrap()), (5, 1000, 0));
    bench.pass(3_600_000);
    assert_eq!(parts(sortable.next().unwrap()), (5, 7_200_999, 0));
    bench.pass(3_600_000);
    let error = sortable.next().unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::Coordinator, "disk full"));
}

#[test]
fn the_end_of_the_layout_is_an_error_never_a_wrap() {
    let bench = Bench::new();
    bench.open(511, LAYOUT.end() - 2, LAYOUT.end());
    bench.pass(1);
    let (counter, sortable) = (bench.source(Order::Counter), bench.source(Order::Sortable));
    assert_eq!(parts(sortable.next().unwrap()), (511, LAYOUT.end() - 2, 0));
    bench.pass(u64::from(u32::MAX));
    for source in [counter, sortable] {
        let error = loop {
            if let Err(error) = source.next() {
                break error;
            }
        };
        assert_eq!(error.code(), Code::Time);
    }
}

#[test]
fn closing_while_threads_count_lets_nothing_out_past_what_it_yields() {
    for order in [Order::Counter, Order::Sortable] {
        let factory = Arc::new(Factory::new(LAYOUT, Arc::new(crate::clock::SystemClock)));
        let arrived = crate::clock::SystemClock.tick();
        let mut all = Vec::new();
        for round in 0..20_u64 {
            // Every second lease has the other machine ID; the fences of each one follow each other.
            let start = 1_000_000 + round * 1000;
            let machine = (round % 2) as u32;
            factory.open(Opening {
                fence: Fence { machine, start, end: start + 1000 },
                now: start,
                arrived,
                extend: None,
                doubt: Doubt::new(|| {}),
            });
            let (nonces, last_used) = std::thread::scope(|scope| {
                let workers: Vec<_> = (0..3)
                    .map(|_| {
                        let source = factory.source(Space::new(order, LAYOUT)).unwrap();
                        scope.spawn(move || std::iter::from_fn(|| source.next().ok()).take(50_000).collect::<Vec<_>>())
                    })
                    .collect();
                let last_used = factory.close(Why::NotReady).unwrap();
                (workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>(), last_used)
            });
            assert!(nonces.iter().all(|nonce| (start..=last_used.max(start)).contains(&parts(*nonce).1)));
            all.extend(nonces);
        }
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}

#[test]
fn a_clock_that_runs_past_the_layout_does_not_spill_into_the_machine_id() {
    let bench = Bench::new();
    bench.factory.open(Opening { now: u64::MAX, arrived: Tick(0), ..bench.opening(1, 10, LAYOUT.end(), None) });
    assert_eq!(bench.source(Order::Sortable).next().unwrap_err().code(), Code::Time);
}

#[derive(Debug, Default)]
struct Changes(AtomicUsize);

impl Watch for Changes {
    fn changed(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn watchers_hear_of_each_beginning_and_end_as_long_as_they_live() {
    let bench = Bench::new();
    let changes = Arc::new(Changes::default());
    let watcher: Arc<dyn Watch> = changes.clone();
    bench.factory.watch(Arc::downgrade(&watcher));
    bench.open(5, 1000, 2000);
    assert_eq!(changes.0.load(Ordering::SeqCst), 1);
    bench.factory.close(Why::NotReady);
    assert_eq!(changes.0.load(Ordering::SeqCst), 2);
    drop(watcher);
    drop(changes);
    bench.open(5, 3000, 4000);
    assert!(bench.factory.lock().watchers.is_empty());
}
