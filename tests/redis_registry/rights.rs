//! Users with just the rights that they need, and with less.

use mintid::coordinator::redis::Redis;
use mintid::coordinator::registry::{Examination, Verdict};
use mintid::coordinator::{Grant, Lease};

use crate::support::redis::{RedisBench, settings};
use crate::*;

/// A client as users have it, who comes in as the user that `setup --print` makes. The server's own clock is its clock.
fn client(bench: &RedisBench, server: &Server, durable: bool) -> Redis {
    let mut setup = bench.setup();
    setup.settings = settings(&format!("redis://mintid:password@127.0.0.1:{}/1", server.port));
    setup.agreement.durable = durable;
    Redis::new(setup)
}

/// What `setup --print` prints, without some of the rights.
fn allow(server: &Server, lines: &str, without: &[&str]) {
    server.ask(&["ACL", "DELUSER", "mintid"]);
    for line in lines.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').filter(|word| !without.contains(word)).collect();
        // A server that does not know the command needs no right to it.
        let known = !line.ends_with("+waitaof") || server.ask(&["COMMAND", "INFO", "WAITAOF"]).contains("waitaof");
        let said = server.ask(&words);
        assert_eq!(said == "OK", known, "{line}: {said}");
    }
}

/// Everything that a process and an operator do.
fn do_all(client: &Redis) -> Result<Examination, Error> {
    wait(client.setup(Mode::Fresh))?;
    let Grant { lease, .. } = wait(client.acquire(TTL))?;
    for _ in 0..2 {
        match wait(client.renew(&lease, TTL)) {
            Renewal::Granted(_) => {}
            Renewal::Unknown(error) => return Err(error),
            lost @ Renewal::Lost(_) => panic!("{lost:?}"),
        }
    }
    let Lease { machine, start_ms, end_ms, .. } = lease;
    wait(client.release(&lease, start_ms))?;
    let listed = wait(client.list())?;
    assert!(listed[machine as usize].expires_at_ms < end_ms, "released");
    wait(client.examine())
}

#[test]
fn what_setup_prints_is_enough_and_nothing_of_it_is_too_much() {
    let server = Server::start(&["appendonly yes", "appendfsync always"]);
    let bench = RedisBench::at(&url(&server), OnReset::Wait, &[]);
    let client = client(&bench, &server, false);
    let lines = client.script();
    allow(&server, &lines, &[]);
    let examination = do_all(&client).unwrap();
    let errors: Vec<_> = examination.checks.iter().filter(|check| check.verdict == Verdict::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");

    let rights = lines.split_whitespace().filter(|word| word.starts_with(['+', '~']));
    // A name is not worth a right, and only Sentinel's users ask for the role; with WAITAOF alone there is no wait.
    let spare = ["+client|setname", "+role", "+wait", "+waitaof"];
    let needed: Vec<&str> = rights.filter(|right| !spare.contains(right)).collect();
    assert!(needed.len() >= 15, "{needed:?}");
    for right in needed {
        allow(&server, &lines, &[right]);
        server.ask(&["SCRIPT", "FLUSH"]);
        let error = do_all(&client).expect_err(right);
        assert_eq!(error.retry(), Retry::Never, "{right}: {error:?}");
        let hint = error.fields().hint.as_deref().unwrap_or_default();
        assert!(hint.contains(right) || right.starts_with('~') && hint.contains("~mintid:*"), "{right}: {error:?}");
    }
}

#[test]
fn replicas_need_the_right_to_wait_for_them() {
    let server = Server::start(&[]);
    let bench = RedisBench::at(&url(&server), OnReset::Wait, &[]);
    let mut setup = bench.setup();
    setup.settings = settings(&format!("redis://mintid:password@127.0.0.1:{}/1?replicas=1", server.port));
    let client = Redis::new(setup);
    allow(&server, &client.script(), &["+wait"]);
    expect(&do_all(&client).unwrap_err(), Retry::Never, Some("NOPERM"), "+wait");
}

#[test]
fn without_info_a_registry_is_durable_or_none() {
    let server = Server::start(&[]);
    let bench = RedisBench::at(&url(&server), OnReset::Wait, &[]);
    let volatile = client(&bench, &server, false);
    allow(&server, &volatile.script(), &["+info"]);
    for error in [do_all(&volatile).unwrap_err(), wait(volatile.acquire(TTL)).unwrap_err()] {
        expect(&error, Retry::Never, None, "ACL SETUSER <user> +info");
        assert!(error.fields().hint.as_ref().unwrap().contains("incarnation: 'durable'"), "{error:?}");
        assert!(error.message().contains("run_id"), "{error}");
    }
    let durable = client(&bench, &server, true);
    wait(durable.acquire(TTL)).expect_err("it is new");
    let examination = do_all(&durable).unwrap();
    let check = examination.checks.iter().find(|check| check.name == "INFO").unwrap();
    assert_eq!(check.verdict, Verdict::Warning);
    assert_eq!(wait(volatile.acquire(TTL)).unwrap_err().fields().option, Some("incarnation"));
    assert_eq!(server.ask(&["-n", "1", "HGET", &bench.key(), "incarnation"]), "durable");
}

#[test]
fn a_durable_registry_outlives_what_it_cannot_tell() {
    let server = Server::start(&["appendonly no"]);
    let bench = registry(&server, &[]);
    let durable = || bench.client_with(|setup| setup.agreement.durable = true);
    let lease = wait(durable().acquire(TTL)).unwrap().lease;
    server.ask(&["SAVE"]);
    crash(&server);
    wait(durable().acquire(TTL)).expect("on the operator's word that nothing is ever lost");
    assert!(matches!(wait(durable().renew(&lease, TTL)), Renewal::Granted(_)));
    server.ask(&["FLUSHALL"]);
    assert_eq!(wait(durable().acquire(TTL)).unwrap_err().code(), Code::RegistryReset, "an empty one is new");
}
