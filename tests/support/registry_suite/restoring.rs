//! What an operator announces with `setup --restored`: a registry that was put back as it was, which nothing in it shows.

use mintid::coordinator::registry::{Mode, OnReset, Registry, Report};

use super::{must_wait, renewed};
use crate::support::bench::wait;
use crate::support::registry::{RegistryBench, TTL};

/// How long before the end the wait is looked at: a server that syncs what it answers takes a second for it.
const NEARLY_MS: i64 = 20_000;

fn set_up<B: RegistryBench>(bench: &B, mode: Mode, on_reset: OnReset) -> Report {
    wait(bench.client_on(|terms| terms.on_reset = on_reset).setup(mode)).unwrap()
}

pub(crate) fn an_announced_restore_makes_newcomers_wait_and_holders_go_on<B: RegistryBench>() {
    let bench = B::waiting();
    set_up(&bench, Mode::Fresh, OnReset::Wait);
    let mut holder = bench.holder(0, 0);
    // As a backup has it from before machine ID 0 was leased.
    bench.write(0, None, 0);
    let report = set_up(&bench, Mode::Restored, OnReset::Wait);
    assert!((report.not_before_ms as i64 - bench.now_ms() - bench.quarantine_ms()).abs() < 5000, "{report:?}");
    assert!(!report.created, "{report:?}");
    assert!(must_wait(&*bench.within(0, 0)));

    bench.step(bench.quarantine_ms() / 2);
    let again = set_up(&bench, Mode::Restored, OnReset::Grant);
    let later = (again.not_before_ms - report.not_before_ms) as i64;
    assert!((later - bench.quarantine_ms() / 2).abs() < 5000, "the wait begins anew: {later} ms");
    assert_eq!(set_up(&bench, Mode::Plain, OnReset::Wait).not_before_ms, again.not_before_ms);

    for step in [0, bench.quarantine_ms() / 2, bench.quarantine_ms() / 2 - NEARLY_MS] {
        bench.step(step);
        assert!(must_wait(&*bench.within(1, 1)));
        let token = holder.lease().token;
        let lease = renewed(&mut holder).unwrap_or_else(|lost| panic!("a holder was stopped: {lost:?}"));
        assert_eq!((lease.machine, lease.token), (0, token));
    }
    bench.step(NEARLY_MS + 500);
    assert!(!must_wait(&*bench.within(1, 1)));
    wait(bench.within(0, 0).acquire(TTL)).expect_err("machine ID 0 was granted twice");
}

/// Else the check above would show nothing.
pub(crate) fn a_restore_that_nobody_announces_is_not_noticed_by_newcomers<B: RegistryBench>() {
    let bench = B::waiting();
    set_up(&bench, Mode::Fresh, OnReset::Wait);
    let holder = bench.holder(0, 0);
    bench.write(0, None, 0);
    let grant = wait(bench.within(0, 0).acquire(TTL)).unwrap();
    assert_eq!(grant.lease.machine, holder.lease().machine);
}
