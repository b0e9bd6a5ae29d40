//! Sharing one lease in a process: the real pool on its own thread, over the coordinator on a directory.

#![cfg(feature = "runtime")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::HashSet;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use mintid::clock::SystemClock;
use mintid::coordinator::local::Local;
use mintid::coordinator::{Coordinator, MachineIds};
use mintid::error::{Code, Error};
use mintid::layout::Layout;
use mintid::lease::event::{Source as For, What};
use mintid::lease::pool::{Agreement, Joining, Key, Member};
use mintid::lease::state::Timings;
use mintid::nonce::{Loss, Order, Source, Space};
use tempfile::{TempDir, tempdir};

/// Far longer than anything here takes: a test that waits so long has failed.
const AT_MOST: Duration = Duration::from_secs(20);

const TIMINGS: Timings =
    Timings { ttl: Duration::from_secs(300), first_ttl: Duration::from_secs(60), renew_every: Duration::from_secs(60) };

/// A registry of a test's own, and so a key that no other test has.
struct Registry {
    directory: TempDir,
    machine_ids: Option<(u32, u32)>,
}

impl Registry {
    fn new() -> Self {
        Self { directory: tempdir().unwrap(), machine_ids: None }
    }

    /// With one machine ID, so that a second lease has to wait for the first one's end.
    fn of_one() -> Self {
        Self { machine_ids: Some((0, 0)), ..Self::new() }
    }

    fn joining(&self) -> (Joining, Receiver<What>) {
        let (heard, events) = channel();
        let joining = Joining {
            key: Key { coordinator: self.directory.path().display().to_string(), namespace: "default".into() },
            agreement: Agreement {
                layout: Layout::DEFAULT,
                fingerprint: Some([7; 16]),
                machine_ids: self.machine_ids,
                ttl: TIMINGS.ttl,
            },
            timings: TIMINGS,
            request_timeout: Duration::from_secs(5),
            clock: Arc::new(SystemClock),
            listener: listener(heard),
        };
        (joining, events)
    }

    fn coordinator(&self) -> Result<Arc<dyn Coordinator>, Error> {
        coordinator(self.directory.path(), self.machine_ids)
    }

    fn join_as(&self, change: impl FnOnce(&mut Joining)) -> Result<(Member, Receiver<What>), Error> {
        let (mut joining, events) = self.joining();
        change(&mut joining);
        Member::join(joining, || self.coordinator()).map(|member| (member, events))
    }

    fn join(&self) -> Member {
        self.join_as(|_| {}).unwrap().0
    }

    /// Another generator of this process that does not share, as another process would be.
    fn stranger(&self) -> (Member, Receiver<What>) {
        self.join_as(|joining| joining.key.coordinator.push_str("/.")).unwrap()
    }
}

/// One option that differs.
type Change = fn(&mut Joining);

fn listener(heard: Sender<What>) -> Box<dyn Fn(&mintid::lease::event::Event) + Send> {
    // A test that has ended hears no more.
    Box::new(move |event| heard.send(event.what.clone()).unwrap_or_default())
}

fn coordinator(directory: &Path, machine_ids: Option<(u32, u32)>) -> Result<Arc<dyn Coordinator>, Error> {
    let machine_ids = MachineIds::new(&Layout::DEFAULT, machine_ids)?;
    Ok(Arc::new(Local::new(directory, "default", machine_ids, Layout::DEFAULT, Arc::new(SystemClock))))
}

fn ready(member: &Member) -> Result<(), Error> {
    let (reply, outcome) = channel();
    member.wait(Some(AT_MOST / 2), move |result| reply.send(result.map(drop)).unwrap_or_default());
    outcome.recv_timeout(AT_MOST).expect("a wait without an answer")
}

fn leave(mut member: Member) {
    let (reply, done) = channel();
    member.leave(Box::new(move || reply.send(()).unwrap_or_default()));
    done.recv_timeout(AT_MOST).expect("a leave without an answer");
}

fn source(member: &Member) -> Source {
    member.factory().source(Space::new(Order::Counter, *member.factory().layout())).unwrap()
}

fn next_event(events: &Receiver<What>) -> What {
    events.recv_timeout(AT_MOST).expect("no event")
}

#[test]
fn members_of_one_key_share_one_machine_id_and_its_sequences() {
    let registry = Registry::new();
    let members = [registry.join(), registry.join(), registry.join()];
    let mut nonces = HashSet::new();
    for member in &members {
        ready(member).unwrap();
        assert_eq!(member.lease(), members[0].lease());
        for _ in 0..1000 {
            assert!(nonces.insert(source(member).next().unwrap()));
        }
    }
    let machine = u64::from(members[0].lease().unwrap().machine);
    assert!(nonces.iter().all(|nonce| Layout::DEFAULT.unpack(*nonce).machine == machine));
}

#[test]
fn another_namespace_or_coordinator_is_another_lease() {
    let registry = Registry::new();
    let one = registry.join();
    let (other, _) = registry.join_as(|joining| joining.key.namespace = "other".into()).unwrap();
    let (stranger, _) = registry.stranger();
    let machines = [&one, &other, &stranger].map(|member| {
        ready(member).unwrap();
        member.lease().unwrap().machine
    });
    assert_eq!(machines.iter().collect::<HashSet<_>>().len(), 3, "{machines:?}");
}

#[test]
fn who_disagrees_is_told_on_which_option_and_changes_nothing() {
    let registry = Registry::new();
    let member = registry.join();
    let changes: [(&str, Change); 6] = [
        ("layout", |joining| joining.agreement.layout = Layout::new(0, 42, 10, 12, 0).unwrap()),
        ("layout", |joining| joining.agreement.layout = Layout::new(0, 42, 9, 13, 0).unwrap()),
        ("key", |joining| joining.agreement.fingerprint = Some([8; 16])),
        ("key", |joining| joining.agreement.fingerprint = None),
        ("machineIds", |joining| joining.agreement.machine_ids = Some((0, 5))),
        ("lease.ttlMs", |joining| joining.agreement.ttl = Duration::from_secs(301)),
    ];
    for (option, change) in changes {
        let error = registry.join_as(change).map(drop).unwrap_err();
        assert_eq!((error.code(), error.fields().option), (Code::Config, Some(option)), "{error}");
        assert!(error.message().starts_with(option), "{error}");
    }
    ready(&member).unwrap();
    leave(member);
    let (other, _) = registry.join_as(changes[5].1).expect("with the last member the agreement ends");
    ready(&other).unwrap();
}

#[test]
fn a_coordinator_that_cannot_be_made_leaves_nothing_behind() {
    let registry = Registry::new();
    let (joining, _) = registry.joining();
    let refusal = Error::config("coordinator", "not this one");
    let error = Member::join(joining, || Err(refusal.clone())).map(drop).unwrap_err();
    assert_eq!(error, refusal);
    ready(&registry.join()).unwrap();
}

#[test]
fn the_last_one_to_leave_stops_all_counting_before_leave_returns() {
    let registry = Registry::new();
    let [mut first, mut last] = [registry.join(), registry.join()];
    ready(&first).unwrap();
    let source = source(&first);
    first.leave(Box::new(|| {}));
    source.next().expect("the last one is still there");
    last.leave(Box::new(|| {}));
    assert_eq!(source.next().unwrap_err().code(), Code::Closed);
}

#[test]
fn leaving_twice_is_leaving_once() {
    let registry = Registry::new();
    let [mut first, last] = [registry.join(), registry.join()];
    ready(&last).unwrap();
    for _ in 0..3 {
        let (reply, done) = channel();
        first.leave(Box::new(move || reply.send(()).unwrap()));
        done.recv_timeout(AT_MOST).expect("each is answered");
    }
    drop(first);
    source(&last).next().expect("the last one is still there");
}

#[test]
fn dropping_is_leaving() {
    let registry = Registry::new();
    let member = registry.join();
    ready(&member).unwrap();
    let source = source(&member);
    drop(member);
    assert_eq!(source.next().unwrap_err().code(), Code::Closed);
}

#[test]
fn a_lease_that_was_left_is_free_for_others_at_once() {
    let registry = Registry::of_one();
    let member = registry.join();
    ready(&member).unwrap();
    leave(member);
    let (stranger, events) = registry.stranger();
    ready(&stranger).unwrap();
    let first = next_event(&events);
    assert!(matches!(first, What::Acquired { machine: 0, source: For::Initial, .. }), "without a retry: {first:?}");
}

#[test]
fn fifty_rounds_of_joining_and_leaving_repeat_no_nonce() {
    let registry = Registry::of_one();
    let mut nonces = HashSet::new();
    for _ in 0..50 {
        let member = registry.join();
        ready(&member).unwrap();
        let source = source(&member);
        for _ in 0..100 {
            assert!(nonces.insert(source.next().unwrap()));
        }
        leave(member);
    }
    assert_eq!(nonces.len(), 5000);
}

#[test]
fn threads_that_join_and_leave_at_once_share_and_repeat_nothing() {
    const THREADS: usize = 8;
    let registry = Registry::new();
    for _ in 0..5 {
        let (all_joined, all_counted) = (Barrier::new(THREADS), Barrier::new(THREADS));
        let work = || {
            let member = registry.join();
            all_joined.wait();
            ready(&member).unwrap();
            let (machine, source) = (member.lease().unwrap().machine, source(&member));
            let nonces: Vec<u64> = (0..1000).map(|_| source.next().unwrap()).collect();
            all_counted.wait();
            leave(member);
            (machine, nonces)
        };
        let outcomes: Vec<(u32, Vec<u64>)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let machines: HashSet<u32> = outcomes.iter().map(|(machine, _)| *machine).collect();
        assert_eq!(machines.len(), 1, "{machines:?}");
        let nonces: HashSet<u64> = outcomes.into_iter().flat_map(|(_, nonces)| nonces).collect();
        assert_eq!(nonces.len(), THREADS * 1000);
    }
}

#[test]
fn other_timings_are_taken_over_and_told_once_to_whoever_brought_them() {
    let registry = Registry::new();
    let (_first, first_heard) = registry.join_as(|_| {}).unwrap();
    let (_same, same_heard) = registry.join_as(|_| {}).unwrap();
    let slower = |joining: &mut Joining| joining.timings.renew_every = Duration::from_secs(90);
    let (_newer, newer_heard) = registry.join_as(slower).unwrap();
    let (_agrees, agrees_heard) = registry.join_as(slower).unwrap();
    let warning = next_event(&newer_heard);
    assert!(matches!(warning, What::Warning { code: "OPTIONS_REPLACED", .. }), "{warning:?}");
    ready(&registry.join_as(slower).unwrap().0).unwrap();
    for heard in [first_heard, same_heard, newer_heard, agrees_heard] {
        let next = next_event(&heard);
        assert!(matches!(next, What::Acquired { .. }), "{next:?}");
    }
}

#[test]
fn every_member_hears_of_the_lease_also_who_joins_late() {
    let registry = Registry::new();
    let (first, first_heard) = registry.join_as(|_| {}).unwrap();
    ready(&first).unwrap();
    let (_late, late_heard) = registry.join_as(|_| {}).unwrap();
    let machine = first.lease().unwrap().machine;
    first.relinquish(u64::MAX, "draining".into());
    for heard in [&first_heard, &late_heard] {
        assert!(matches!(next_event(heard), What::Acquired { machine: found, .. } if found == machine));
        let lost = next_event(heard);
        assert!(matches!(lost, What::Lost { machine: found, loss: Loss::Relinquished, .. } if found == machine));
        assert!(matches!(next_event(heard), What::Acquired { source: For::Reacquire, .. }));
    }
}

#[test]
fn whoever_leaves_hears_no_more_while_others_do() {
    let registry = Registry::new();
    let (leaving, left_heard) = registry.join_as(|_| {}).unwrap();
    let (staying, stayed_heard) = registry.join_as(|_| {}).unwrap();
    leave(leaving);
    ready(&staying).unwrap();
    assert!(matches!(next_event(&stayed_heard), What::Acquired { .. }));
    assert!(
        left_heard.recv_timeout(AT_MOST).is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Disconnected)
    );
}

#[test]
fn the_last_one_to_leave_hears_that_the_lease_was_released() {
    let registry = Registry::new();
    let (member, heard) = registry.join_as(|_| {}).unwrap();
    ready(&member).unwrap();
    leave(member);
    assert!(matches!(next_event(&heard), What::Acquired { .. }));
    assert!(matches!(next_event(&heard), What::Released { .. }));
}

#[test]
fn cancelling_ends_the_waits_of_one_member_alone() {
    let registry = Registry::of_one();
    let (holder, _) = registry.stranger();
    ready(&holder).unwrap();
    let [one, other] = [registry.join(), registry.join()];
    let (reply, outcome) = channel();
    for member in [&one, &other] {
        let reply = reply.clone();
        member.wait(None, move |result| reply.send(result.map(drop)).unwrap_or_default());
    }
    one.cancel();
    assert_eq!(outcome.recv_timeout(AT_MOST).unwrap().unwrap_err().code(), Code::Closed);
    assert!(outcome.try_recv().is_err());
    leave(holder);
    assert_eq!(outcome.recv_timeout(AT_MOST), Ok(Ok(())));
}

#[test]
fn whoever_is_told_that_a_member_left_may_use_the_pool() {
    let registry = Registry::new();
    let [mut one, other] = [registry.join(), registry.join()];
    let (reply, free) = channel();
    one.leave(Box::new(move || {
        // From another thread, so that a locked pool is a failure and not a deadlock.
        let (left, has_left) = channel();
        std::thread::spawn(move || {
            drop(other);
            left.send(()).unwrap_or_default();
        });
        reply.send(has_left.recv_timeout(AT_MOST / 4).is_ok()).unwrap();
    }));
    assert_eq!(free.recv_timeout(AT_MOST), Ok(true), "the pool is locked while it calls back");
}
