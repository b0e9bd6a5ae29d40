//! The contract suite on Redis over connections that the user's own program has, and what nobody can wait for there.

#![cfg(feature = "redis")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "support/contract.rs"]
mod contract;
mod support;

use std::sync::{Arc, Barrier};
use std::time::Duration;

use mintid::coordinator::functions::{Functions, Own, Request, Said, Trouble};
use mintid::coordinator::keeper;
use mintid::coordinator::redis::{Lent, LentRedis};
use mintid::coordinator::registry::{Mode, OnReset, Registry, Verdict};
use mintid::coordinator::{Answer, Coordinator, MachineIds, Renewal};
use mintid::error::{Code, Error, Retry};
use support::bench::{Bench, Change, Holder, Kind, few_machines, wait};
use support::lent_eval::Eval;
use support::redis::{RedisBench, url};
use support::registry::RegistryBench as _;

mod suite {
    crate::contract::suite!(super::LentBench::new());
}

const TTL: Duration = Duration::from_secs(300);

/// The clock and the hash of a bench whose registry other clients come to.
struct LentBench {
    registry: RedisBench,
    on_reset: OnReset,
}

impl LentBench {
    fn new() -> Self {
        Self { registry: RedisBench::new(), on_reset: OnReset::Grant }
    }

    fn waiting() -> Self {
        Self { registry: RedisBench::waiting(), on_reset: OnReset::Wait }
    }

    /// On a server with an append-only file, as far as its clients can tell.
    fn with_file(on_reset: OnReset) -> Self {
        const FILE: Change =
            ("local function has_file()\n", "local function has_file()\n  if true then return true end\n");
        Self { registry: RedisBench::of(on_reset, &[FILE]), on_reset }
    }

    /// The file is believed, as after a grant to somebody who waited for it.
    fn believe(&self) {
        self.registry.set("aof", &(self.registry.now_ms() + 200_000).to_string());
    }

    fn client_with(&self, change: impl FnOnce(&mut keeper::Setup<Lent>)) -> LentRedis {
        self.client_over(Arc::new(Eval(url())), change)
    }

    fn client_over(&self, functions: Arc<dyn Functions>, change: impl FnOnce(&mut keeper::Setup<Lent>)) -> LentRedis {
        let mut setup = keeper::Setup {
            settings: Lent::new(Own::new("lent".into(), functions)),
            namespace: self.registry.namespace().to_owned(),
            machine_ids: MachineIds::new(&few_machines(), None).unwrap(),
            agreement: self.registry.agreement(),
            on_reset: self.on_reset,
            keep_open: true,
        };
        change(&mut setup);
        LentRedis::new(setup).rewritten(&|script| self.registry.on_its_clock(script))
    }
}

impl Bench for LentBench {
    fn kind(&self) -> Kind {
        Kind::Renewable
    }

    fn ttl(&self) -> Duration {
        TTL
    }

    fn client(&self, machine_ids: MachineIds, _skew_ms: i64) -> Arc<dyn Coordinator> {
        Arc::new(self.client_with(|setup| setup.machine_ids = machine_ids))
    }

    fn pass(&self, by: Duration) {
        self.registry.pass(by);
    }

    fn step(&self, by_ms: i64) {
        self.registry.step(by_ms);
    }

    fn die(&self, holder: Holder) {
        self.registry.die(holder);
    }
}

fn refusal(client: &dyn Coordinator) -> Error {
    wait(client.acquire(TTL)).unwrap_err()
}

#[test]
fn many_make_the_registry_at_once_and_it_is_made_once() {
    let bench = LentBench::waiting();
    let together = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let client = bench.client_with(|_| {});
                together.wait();
                assert_eq!(refusal(&client).code(), Code::RegistryReset);
            });
        }
    });
    assert_eq!(wait(bench.client_with(|_| {}).list()).unwrap().len(), 31);
}

#[test]
fn native_and_lent_connections_share_a_registry() {
    let bench = LentBench::new();
    let (lent, native) = (bench.holder(0, 1), bench.registry.holder(0, 1));
    assert_ne!(lent.lease().machine, native.lease().machine);
    assert_eq!(refusal(&*bench.within(0, 1)).code(), Code::Exhausted);
    let renewal = wait(native.client.renew(&lent.lease(), TTL));
    assert!(matches!(renewal, Renewal::Granted(_)), "one protocol: {renewal:?}");
    let other = bench.client_with(|setup| setup.agreement.ttl = Duration::from_secs(30));
    assert_eq!(refusal(&other).fields().option, Some("lease.ttlMs"));
}

/// While every claim is in the append-only file before it is believed, a restart counts as none. Who cannot wait for the
/// file ends that, and waits until that is in it.
#[test]
fn who_cannot_wait_for_the_disk_has_restarts_count_again_before_anything_is_granted() {
    let bench = LentBench::with_file(OnReset::Grant);
    let mut holder = bench.holder(0, 0);
    bench.registry.unset(&["doubted"]);
    bench.believe();
    let end_ms = holder.lease().end_ms;
    let renewal = wait(holder.client.renew(&holder.lease(), TTL));
    let Renewal::Unknown(error) = renewal else { panic!("prolonged what a crash may forget: {renewal:?}") };
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon));
    assert_eq!(bench.registry.kept(0).0, end_ms as i64);
    let since: i64 = bench.registry.field("doubted").unwrap().parse().unwrap();
    assert!(bench.registry.now_ms() - since < 60_000, "from now on a restart counts");
    let error = refusal(&*bench.within(1, 1));
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon));
    bench.step(6000);
    holder.renew(TTL);
    bench.holder(1, 1);
}

/// Also where an operator's word ends a wait.
#[test]
fn an_adoption_keeps_to_the_same_order() {
    let bench = LentBench::with_file(OnReset::Wait);
    let operator = bench.client_with(|_| {});
    wait(operator.setup(Mode::Fresh)).unwrap();
    bench.holder(0, 0);
    bench.believe();
    wait(operator.setup(Mode::AcceptReset)).unwrap();
    let error = refusal(&*bench.within(1, 1));
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon));
    bench.step(6000);
    bench.holder(1, 1);
}

#[test]
fn a_server_that_forgot_is_noticed() {
    let bench = LentBench::waiting();
    let operator = bench.client_with(|_| {});
    wait(operator.setup(Mode::Fresh)).unwrap();
    let mut holder = bench.holder(0, 0);
    bench.registry.set("incarnation", "another run");
    assert_eq!(refusal(&*bench.within(1, 1)).code(), Code::RegistryReset);
    holder.renew(TTL);
    assert_eq!(wait(operator.setup(Mode::AcceptReset)).unwrap().not_before_ms, 0);
    bench.holder(1, 1);
}

#[test]
fn an_operator_sees_the_registry() {
    let bench = LentBench::new();
    let holder = bench.holder(2, 2);
    let operator = bench.client_with(|_| {});
    let listed = wait(operator.list()).unwrap();
    assert_eq!((listed.len(), listed[2].live, listed[2].expires_at_ms), (31, true, holder.lease().end_ms));
    let examination = wait(operator.examine()).unwrap();
    let named = |name: &str| examination.checks.iter().find(|check| check.name == name).unwrap();
    assert_eq!((named("writable").verdict, named("registry").verdict), (Verdict::Fine, Verdict::Fine));
    assert_eq!(named("machine IDs").found, "1 of 31 leased");
}

#[test]
fn what_a_server_says_is_told_as_for_connections_of_our_own() {
    let bench = LentBench::new();
    bench.registry.run(&["SET", &bench.registry.key(), "theirs"]);
    let error = refusal(&*bench.any());
    bench.registry.run(&["DEL", &bench.registry.key()]);
    assert_eq!((error.fields().server_code.as_deref(), error.retry()), (Some("WRONGTYPE"), Retry::Never), "{error}");
    assert!(error.fields().hint.as_ref().unwrap().contains("another program uses the key"));
}

#[test]
fn what_is_no_word_of_a_servers_is_tried_again() {
    type Break = fn() -> Result<Said, Trouble>;
    #[derive(Debug)]
    struct Broken(Break);
    impl Functions for Broken {
        fn call(&self, _: Request) -> Answer<'_, Result<Said, Trouble>> {
            Box::pin(async { (self.0)() })
        }
    }
    let threw =
        || Err(Trouble { what: "threw Error: closed".into(), said: Some("closed".into()), ..Trouble::default() });
    let cases: [(Break, &str); 3] = [
        (threw, "lent: eval() threw Error: closed"),
        (|| Ok(Said::Rows(Vec::new())), "lent: eval() answered what belongs to another function"),
        (|| Ok(Said::List(vec![None])), "lent: the answer of a script is not what was expected"),
    ];
    let bench = LentBench::new();
    for (broken, says) in cases {
        let error = refusal(&bench.client_over(Arc::new(Broken(broken)), |_| {}));
        assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon), "{error}");
        assert!(error.message().starts_with(says), "{error}");
    }
}
