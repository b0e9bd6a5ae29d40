//! What every coordinator promises, whatever it keeps its leases in. `suite!` makes a test of each check; a crate that
//! uses it declares `#[path = "support/contract.rs"] mod contract;` beside `mod support;`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Mutex;
use std::time::Duration;

use mintid::coordinator::{Lease, MachineIds, Renewal, Term, Token};
use mintid::error::{Code, Error, Retry};

use crate::support::HOUR_MS;
use crate::support::bench::{Bench, Holder, Kind, is_exhausted, wait};

/// One `#[test]` a check, each on a bench of its own.
macro_rules! suite {
    ($bench:expr) => {
        $crate::contract::suite! { $bench =>
            every_id_but_the_highest_is_leased_once
            what_many_threads_use_never_overlaps
            a_client_keeps_to_its_machine_ids
            a_released_id_is_granted_again
            a_dead_holder_frees_its_id
            a_grant_is_for_the_time_after_now
            a_lease_starts_after_everything_before
            a_release_reaches_to_the_last_use
            a_stale_token_neither_renews_nor_releases
            a_released_token_is_dead
            a_renewal_can_be_repeated_and_never_shortens
            only_what_is_alive_is_renewed
            each_claim_has_its_own_token
            the_id_free_longest_comes_first
            a_clients_clock_changes_nothing
        }
    };
    ($bench:expr => $($check:ident)*) => {
        $(
            #[test]
            fn $check() {
                $crate::contract::$check(&$bench);
            }
        )*
    };
}
pub(crate) use suite;

/// Longer than a lease of any kind needs to move on by a millisecond.
const MOMENT: Duration = Duration::from_millis(2);

/// Clients that take all they can get, at once: distinct IDs, all of them, and then a clear answer.
pub(crate) fn every_id_but_the_highest_is_leased_once(bench: &impl Bench) {
    let capacity = bench.layout().machines() - 1;
    let holders: Mutex<Vec<Holder>> = Mutex::default();
    let refusals: Mutex<Vec<Error>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    match Holder::of(bench.any(), bench.ttl()) {
                        Ok(holder) => holders.lock().unwrap().push(holder),
                        // Trouble that passes, as with two that make the registry at once.
                        Err(error) if error.retry() == Retry::Soon => {}
                        Err(error) => return refusals.lock().unwrap().push(error),
                    }
                }
            });
        }
    });
    let holders = holders.into_inner().unwrap();
    let machines: BTreeSet<u32> = holders.iter().map(|holder| holder.lease().machine).collect();
    assert_eq!(machines, (0..capacity).collect(), "every machine ID but the highest");
    assert_eq!(holders.len(), machines.len(), "each is granted once");
    let refusals = refusals.into_inner().unwrap();
    assert_eq!(refusals.len(), 4, "whoever comes too late is told");
    for error in refusals {
        let found = (error.code(), error.retry(), error.fields().capacity);
        assert_eq!(found, (Code::Exhausted, Retry::Later, Some(capacity)), "{error}");
    }
}

/// Threads that take and give back the same few IDs: no moment of an ID is used twice.
pub(crate) fn what_many_threads_use_never_overlaps(bench: &impl Bench) {
    const ROUNDS: u64 = 20;
    let used: Mutex<BTreeMap<u32, Vec<(u64, u64)>>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let client = bench.within(0, 2);
                let mut rounds = 0;
                // Each round uses a little more of the time ahead.
                while rounds < ROUNDS {
                    if let Ok(grant) = wait(client.acquire(bench.ttl())) {
                        let Lease { machine, start_ms, .. } = grant.lease;
                        let last_used_ms = start_ms + rounds;
                        used.lock().unwrap().entry(machine).or_default().push((start_ms, last_used_ms));
                        wait(client.release(&grant.lease, last_used_ms)).unwrap();
                        rounds += 1;
                    }
                    bench.pass(Duration::from_millis(1));
                }
            });
        }
    });
    for (machine, mut uses) in used.into_inner().unwrap() {
        uses.sort_unstable();
        for pair in uses.windows(2) {
            assert!(pair[0].1 < pair[1].0, "machine ID {machine} was used twice in {pair:?}");
        }
    }
}

/// `machineIds` of two groups in one registry.
pub(crate) fn a_client_keeps_to_its_machine_ids(bench: &impl Bench) {
    let pair = [bench.holder(5, 6), bench.holder(5, 6)];
    let machines: BTreeSet<u32> = pair.iter().map(|holder| holder.lease().machine).collect();
    assert_eq!(machines, BTreeSet::from([5, 6]), "only the range is granted");
    let error = wait(bench.within(5, 6).acquire(bench.ttl())).unwrap_err();
    assert_eq!((error.code(), error.fields().capacity), (Code::Exhausted, Some(2)));
    let one = bench.holder(4, 7);
    assert!([4, 7].contains(&one.lease().machine), "a range that overlaps knows of the others' leases");
}

/// Exhaustion is not for ever.
pub(crate) fn a_released_id_is_granted_again(bench: &impl Bench) {
    let [_kept, released] = [bench.holder(0, 1), bench.holder(0, 1)];
    assert!(is_exhausted(&*bench.within(0, 1), bench.ttl()));
    let Lease { machine, start_ms, .. } = released.lease();
    released.release(start_ms);
    bench.pass(MOMENT);
    let next = Holder::of(bench.within(0, 1), bench.ttl()).expect("a released machine ID is free");
    assert_eq!(next.lease().machine, machine);
}

/// Nobody has to clean up after a crash.
pub(crate) fn a_dead_holder_frees_its_id(bench: &impl Bench) {
    let holder = bench.holder(3, 3);
    assert!(is_exhausted(&*bench.within(3, 3), bench.ttl()));
    bench.die(holder);
    let next = Holder::of(bench.within(3, 3), bench.ttl()).expect("a dead holder's machine ID is free");
    assert_eq!(next.lease().machine, 3);
}

/// `start = floor(now) + 1`, and the end is never further than what was asked for.
pub(crate) fn a_grant_is_for_the_time_after_now(bench: &impl Bench) {
    let mut holder = bench.holder(0, 30);
    let (lease, now_ms) = (holder.lease(), holder.grant.now_ms);
    assert!(lease.start_ms <= now_ms + 1, "who holds the lease need not wait for it");
    assert!(lease.end_ms > lease.start_ms);
    match (bench.kind(), &holder.grant.term) {
        (Kind::Renewable, Term::Renewable) => {
            assert_eq!(lease.start_ms, now_ms + 1, "a lease starts after the moment at which its row was free");
            assert_eq!(lease.end_ms, now_ms + bench.ttl().as_millis() as u64);
        }
        (Kind::Held, Term::WhileHeld(extend)) => assert!(extend.extend(lease.end_ms).unwrap() > lease.end_ms),
        (kind, term) => panic!("{kind:?}, but granted {term:?}"),
    }
    let renewed = holder.renew(bench.ttl());
    assert_eq!((renewed.machine, renewed.start_ms), (lease.machine, lease.start_ms), "a renewal keeps the start");
}

/// However the earlier lease ended, and however the clock was set in between.
pub(crate) fn a_lease_starts_after_everything_before(bench: &impl Bench) {
    #[derive(Debug)]
    enum End {
        Released,
        ReleasedAhead,
        DiedYoung,
        Died,
    }
    let mut free_from_ms = 0;
    for step_ms in [0, HOUR_MS, -HOUR_MS, -HOUR_MS, 0, HOUR_MS] {
        bench.step(step_ms);
        for end in [End::Released, End::ReleasedAhead, End::DiedYoung, End::Died] {
            let mut holder = holder_in_time(bench);
            let Lease { start_ms, end_ms, .. } = holder.lease();
            assert!(
                start_ms >= free_from_ms,
                "starts at {start_ms}, before {free_from_ms} (step {step_ms} ms, {end:?} next)"
            );
            free_from_ms = match end {
                End::Released => {
                    holder.release(start_ms);
                    start_ms + 1
                }
                End::ReleasedAhead => {
                    holder.release(end_ms - 1);
                    end_ms
                }
                End::DiedYoung => {
                    bench.die(holder);
                    end_ms
                }
                End::Died => {
                    let grown_ms = holder.grow(bench.ttl());
                    bench.die(holder);
                    grown_ms
                }
            };
            bench.pass(MOMENT);
            // Somebody else makes the registry look at its rows: one that drops what has run out does so now.
            let _ = wait(bench.within(1, 1).acquire(bench.ttl()));
        }
    }
}

/// The same ID for one process after the other. Where a registry waits for its clock, so does this.
fn holder_in_time(bench: &impl Bench) -> Holder {
    for _ in 0..100 {
        match Holder::of(bench.within(0, 0), bench.ttl()) {
            Ok(holder) => return holder,
            Err(error) => {
                assert_eq!(error.code(), Code::Exhausted, "{error}");
                assert_eq!(bench.kind(), Kind::Renewable, "what nobody holds is free, whatever the clock says");
            }
        }
        bench.pass(bench.ttl());
    }
    panic!("the machine ID never became free again");
}

/// Not before it, and not after it.
pub(crate) fn a_release_reaches_to_the_last_use(bench: &impl Bench) {
    let holder = bench.holder(0, 0);
    let Lease { start_ms: early, end_ms, .. } = holder.lease();
    holder.release(early);
    bench.pass(MOMENT);
    let holder = Holder::of(bench.within(0, 0), bench.ttl()).expect("free as soon as its last use is over");
    assert!(holder.lease().start_ms < end_ms, "what was not used is not lost");
    let late = holder.lease().end_ms - 1;
    holder.release(late);
    bench.pass(MOMENT);
    match Holder::of(bench.within(0, 0), bench.ttl()) {
        Ok(next) => assert!(next.lease().start_ms > late, "granted before the last use of the lease before"),
        Err(error) => assert_eq!(error.code(), Code::Exhausted),
    }
}

/// Neither the token of an earlier claim nor one that was made up.
pub(crate) fn a_stale_token_neither_renews_nor_releases(bench: &impl Bench) {
    let first = bench.within(0, 0);
    let stale = wait(first.acquire(bench.ttl())).unwrap().lease;
    wait(first.release(&stale, stale.start_ms)).unwrap();
    bench.pass(MOMENT);
    let mut holder = bench.holder(0, 0);
    let forged = Lease { token: Token([0xA5; 16]), ..holder.lease() };
    for (client, lease) in [(&first, stale), (&first, forged), (&holder.client, forged), (&holder.client, stale)] {
        let renewal = wait(client.renew(&lease, bench.ttl()));
        assert!(matches!(renewal, Renewal::Lost(_)), "renewed with a stale token: {renewal:?}");
        wait(client.release(&lease, lease.start_ms)).unwrap();
    }
    bench.pass(MOMENT);
    assert!(is_exhausted(&*bench.within(0, 0), bench.ttl()), "released with a stale token");
    holder.renew(bench.ttl());
}

/// Also while the row is not free yet, because its last use lies ahead.
pub(crate) fn a_released_token_is_dead(bench: &impl Bench) {
    let client = bench.within(0, 0);
    let lease = wait(client.acquire(bench.ttl())).unwrap().lease;
    wait(client.release(&lease, lease.end_ms - 1)).unwrap();
    let renewal = wait(client.renew(&lease, bench.ttl()));
    assert!(matches!(renewal, Renewal::Lost(_)), "a released lease was renewed: {renewal:?}");
    wait(client.release(&lease, lease.start_ms)).expect("a second release changes nothing");
}

/// An answer that got lost is asked for again, and options may differ between two renewals.
pub(crate) fn a_renewal_can_be_repeated_and_never_shortens(bench: &impl Bench) {
    let mut holder = bench.holder(0, 0);
    let granted = holder.lease();
    bench.pass(bench.ttl() / 2);
    let renewed = holder.renew(bench.ttl());
    assert!(renewed.end_ms > granted.end_ms, "a renewal moves the end on");
    assert_eq!(Lease { end_ms: granted.end_ms, ..renewed }, granted, "and nothing else");
    assert!(holder.renew(bench.ttl()).end_ms >= renewed.end_ms, "repeated");
    let shorter = holder.renew(bench.ttl() / 10);
    assert!(shorter.end_ms >= renewed.end_ms, "shortened by a renewal");
    bench.pass(bench.ttl() / 2);
    assert!(is_exhausted(&*bench.within(0, 0), bench.ttl()), "shortened behind the holder's back");
    holder.renew(bench.ttl());
}

/// A lease that ran out is gone, also where nobody took its ID meanwhile. One that is held does not run out.
pub(crate) fn only_what_is_alive_is_renewed(bench: &impl Bench) {
    let holder = bench.holder(0, 0);
    bench.pass(bench.ttl() + MOMENT);
    let renewal = wait(holder.client.renew(&holder.lease(), bench.ttl()));
    match bench.kind() {
        Kind::Renewable => assert!(matches!(renewal, Renewal::Lost(_)), "revived: {renewal:?}"),
        Kind::Held => assert!(matches!(renewal, Renewal::Granted(_)), "lost while it was held: {renewal:?}"),
    }
    assert_eq!(is_exhausted(&*bench.within(0, 0), bench.ttl()), bench.kind() == Kind::Held);
}

/// Also for the same ID, the same client and the same millisecond.
pub(crate) fn each_claim_has_its_own_token(bench: &impl Bench) {
    let client = bench.within(0, 1);
    let mut tokens: HashSet<Token> = HashSet::new();
    for _ in 0..6 {
        let grant = wait(client.acquire(bench.ttl())).unwrap();
        assert!(tokens.insert(grant.lease.token), "a token for two claims");
        wait(client.release(&grant.lease, grant.lease.start_ms)).unwrap();
        bench.pass(MOMENT);
    }
}

/// Never used before free long before free lately.
pub(crate) fn the_id_free_longest_comes_first(bench: &impl Bench) {
    let mut holders: BTreeMap<u32, Holder> =
        (0..3).map(|_| bench.holder(0, 2)).map(|holder| (holder.lease().machine, holder)).collect();
    for machine in [1, 2, 0] {
        bench.pass(MOMENT * 5);
        let mut holder = holders.remove(&machine).unwrap();
        holder.renew(bench.ttl());
        let now_ms = holder.grant.now_ms;
        holder.release(now_ms);
    }
    bench.pass(MOMENT);
    let taken: Vec<Holder> = (0..4).map(|_| bench.holder(0, 3)).collect();
    let order: Vec<u32> = taken.iter().map(|holder| holder.lease().machine).collect();
    assert_eq!(order, [3, 1, 2, 0], "by how long each has been free");
}

/// Neither a client hours ahead nor one hours behind gets what others hold, or hold what others get.
pub(crate) fn a_clients_clock_changes_nothing(bench: &impl Bench) {
    let one = MachineIds::new(&bench.layout(), Some((0, 0))).unwrap();
    let client = |skew_ms| bench.client(one, skew_ms);
    let mut free_from_ms = 0;
    let mut registry_ms = None;
    for skew_ms in [0, 3 * HOUR_MS, 0, -3 * HOUR_MS, 0] {
        let mut holder = Holder::of(client(skew_ms), bench.ttl()).expect("free, whatever the client's clock says");
        let lease = holder.lease();
        assert!(lease.start_ms >= free_from_ms, "starts before the end of the lease before");
        for skew_ms in [3 * HOUR_MS, -3 * HOUR_MS] {
            assert!(is_exhausted(&*client(skew_ms), bench.ttl()), "granted twice to a client off by {skew_ms} ms");
        }
        if bench.kind() == Kind::Renewable {
            let now_ms = holder.grant.now_ms;
            let passed_ms = now_ms.abs_diff(registry_ms.replace(now_ms).unwrap_or(now_ms));
            assert!(passed_ms < 60_000, "the registry took a client's clock for its own: {passed_ms} ms passed");
        }
        holder.renew(bench.ttl());
        free_from_ms = lease.start_ms + 1;
        holder.release(lease.start_ms);
        bench.pass(MOMENT);
    }
}
