//! Who may use a registry, and what an operator can do.

use std::time::Duration;

use mintid::coordinator::keeper::Terms;
use mintid::coordinator::registry::{Mode, OnReset, Registry};
use mintid::coordinator::{Coordinator, MachineIds};
use mintid::error::{Code, Retry};
use mintid::layout::Layout;

use super::{must_wait, refusal, settled};
use crate::support::bench::{Holder, few_machines, wait};
use crate::support::registry::{RegistryBench, TTL};

pub(crate) fn a_release_keeps_the_end_and_no_token<B: RegistryBench>() {
    let bench = B::granting();
    let Holder { client, grant } = bench.holder(0, 0);
    assert_eq!(bench.kept(0), (grant.lease.end_ms as i64, true));
    let last_used_ms = grant.lease.start_ms + 5000;
    wait(client.release(&grant.lease, last_used_ms)).unwrap();
    assert_eq!(bench.kept(0), (last_used_ms as i64, false));
}

pub(crate) fn a_setup_keeps_to_the_layout_that_the_processes_have<B: RegistryBench>() {
    let bench = B::waiting();
    let _holder = settled(&bench);
    let default = bench.client_on(|terms| terms.agreement.layout = Layout::DEFAULT);
    let report = wait(default.setup(Mode::Plain)).unwrap();
    assert_eq!((report.created, report.not_before_ms, report.machine_ids, report.ttl_ms), (false, 0, 31, 300_000));
    assert_eq!(wait(default.list()).unwrap().len(), 31);
}

pub(crate) fn who_disagrees_is_refused_with_the_option<B: RegistryBench>() {
    let bench = B::granting();
    let keyed = |key: u8| bench.client_on(|terms| terms.agreement.fingerprint = Some([key; 16]));
    wait(keyed(1).acquire(TTL)).unwrap();
    wait(keyed(1).acquire(TTL)).unwrap();
    wait(bench.any().acquire(TTL)).expect("who has no key has no masks that could differ");
    let other_layout = Layout::new(0, 41, 5, 13, Layout::DEFAULT_EPOCH_MS).unwrap();
    let others = [
        (keyed(2), "key"),
        (bench.client_on(|terms| terms.agreement.ttl = Duration::from_secs(30)), "lease.ttlMs"),
        (bench.client_on(|terms| terms.agreement.layout = other_layout), "layout"),
        (bench.client_on(|terms| terms.agreement.durable = true), "incarnation"),
    ];
    for (client, option) in others {
        let error = refusal(&client);
        assert_eq!((error.code(), error.fields().option, error.retry()), (Code::Config, Some(option), Retry::Never));
    }
    bench.speak(2);
    assert_eq!(refusal(&*bench.any()).code(), Code::RegistryVersion);
}

pub(crate) fn a_key_is_added_by_the_first_process_that_has_one<B: RegistryBench>() {
    let bench = B::granting();
    wait(bench.any().acquire(TTL)).unwrap();
    assert_eq!(bench.keys(), 0);
    wait(bench.client_on(|terms| terms.agreement.fingerprint = Some([1; 16])).acquire(TTL)).unwrap();
    assert_eq!(bench.keys(), 1);
}

pub(crate) fn setup_is_idempotent_and_only_an_operators_word_ends_a_wait<B: RegistryBench>() {
    let bench = B::waiting();
    let operator = bench.client_of_all();
    let first = wait(operator.setup(Mode::Plain)).unwrap();
    assert!(first.created && first.machine_ids == 31);
    assert!((first.not_before_ms - first.now_ms).abs_diff(bench.quarantine_ms() as u64) < 5000, "{first:?}");
    bench.step(1000);
    let again = wait(operator.setup(Mode::Plain)).unwrap();
    assert_eq!((again.created, again.not_before_ms), (false, first.not_before_ms));
    assert!(must_wait(&*bench.any()));
    assert_eq!(wait(operator.setup(Mode::AcceptReset)).unwrap().not_before_ms, 0);
    assert!(!must_wait(&*bench.any()));
    wait(operator.setup(Mode::Plain)).unwrap();
    assert!(!must_wait(&*bench.any()), "a plain setup begins no wait");
}

pub(crate) fn a_fresh_setup_lets_the_next_process_say_what_is_agreed_on<B: RegistryBench>() {
    let bench = B::waiting();
    settled(&bench);
    let short = |terms: &mut Terms| {
        terms.agreement.ttl = Duration::from_secs(30);
        terms.agreement.durable = true;
    };
    assert_eq!(refusal(&bench.client_on(short)).fields().option, Some("lease.ttlMs"));
    wait(bench.client_of_all().setup(Mode::Fresh)).unwrap();
    wait(bench.client_on(short).acquire(Duration::from_secs(30))).expect("said anew, and nothing to wait for");
    assert_eq!(refusal(&*bench.any()).fields().option, Some("lease.ttlMs"));
}

pub(crate) fn the_list_tells_who_holds_what_until_when<B: RegistryBench>() {
    let bench = B::granting();
    let began = bench.now_ms() as u64;
    let holder = bench.holder(2, 2);
    let listed = wait(bench.client_of_all().list()).unwrap();
    assert_eq!(listed.len(), 31);
    let lease = &listed[2];
    assert_eq!((lease.machine, lease.live, lease.expires_at_ms), (2, true, holder.lease().end_ms));
    assert!(lease.acquired_at_ms.is_some_and(|at| at >= began && at <= began + 60_000), "{lease:?}");
    assert!(lease.holder.as_ref().unwrap().ends_with(&format!(":{}", std::process::id())));
    assert_eq!(listed.iter().filter(|lease| lease.live).count(), 1);
    assert_eq!((listed[3].holder.as_ref(), listed[3].expires_at_ms), (None, 0));
}

pub(crate) fn namespaces_know_nothing_of_each_other<B: RegistryBench>() {
    let bench = B::granting();
    let one = MachineIds::new(&few_machines(), Some((0, 0))).unwrap();
    for suffix in ["a", "b"] {
        let client = bench.client_on(|terms| {
            terms.namespace.push_str(suffix);
            terms.machine_ids = one;
        });
        assert_eq!(wait(client.acquire(TTL)).unwrap().lease.machine, 0);
    }
}

pub(crate) fn usage_is_told_with_a_grant<B: RegistryBench>() {
    let bench = B::granting();
    let holders: Vec<Holder> = (0..3).map(|_| bench.holder(0, 3)).collect();
    let leased: Vec<u32> = holders.iter().map(|holder| holder.grant.usage.unwrap().leased).collect();
    assert_eq!(leased, [1, 2, 3]);
    assert_eq!(holders[0].grant.usage.unwrap().capacity, 4);
}

pub(crate) fn development_need_not_wait<B: RegistryBench>() {
    let bench = B::waiting();
    let client = bench.client_on(|terms| terms.on_reset = OnReset::Grant);
    wait(client.acquire(TTL)).expect("at once");
}
