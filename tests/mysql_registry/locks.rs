//! Locks that others hold: what is waited for, what is passed over, and when the clock is read.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mintid::coordinator::Renewal;
use mintid::coordinator::mysql::{Connection, Settings, connect};
use mintid::coordinator::tls::TlsOptions;
use mintid::error::Retry;

use crate::registry_suite::settled;
use crate::support::bench::{Bench, block_on, wait};
use crate::support::mysql::MySqlBench;
use crate::support::registry::{RegistryBench as _, TTL};

/// A session of somebody's with an open transaction.
fn holding(bench: &MySqlBench, statement: &str) -> Connection {
    block_on(async {
        let connection = connect(&Settings::parse(&bench.url(), &TlsOptions::default()).unwrap()).await.unwrap();
        connection.query("begin", &[]).await.unwrap();
        connection.query(statement, &[]).await.unwrap();
        connection
    })
}

/// Waits until a session waits for a lock of `mintid_…`.
fn until_somebody_waits(bench: &MySqlBench) {
    let waiting = format!(
        "select count(*) from information_schema.processlist where db = '{}' and command = 'Query' and info like '%sysdate%' \
         and info not like '%processlist%'",
        bench.database()
    );
    while bench.value(&waiting) == 0 {
        thread::yield_now();
    }
}

/// What `act` answers to when the lock is let go of a while after it was waited for, and the time at that moment.
fn behind<T: Send>(bench: &MySqlBench, lock: &str, act: impl FnOnce() -> T + Send) -> (i64, T) {
    let connection = holding(bench, lock);
    thread::scope(|scope| {
        let acting = scope.spawn(act);
        until_somebody_waits(bench);
        // Longer than any clock's grain, and shorter than the lock is waited for.
        bench.run("do sleep(0.2)");
        let freed_ms = bench.now_ms();
        block_on(connection.query("commit", &[])).unwrap();
        (freed_ms, acting.join().unwrap())
    })
}

/// The statement began before; its time is from after.
#[test]
fn the_clock_is_read_behind_the_locks() {
    const REGISTRY: &str = "select * from mintid_registry for update";
    let bench = MySqlBench::waiting();
    let mut holder = settled(&bench);
    let own = format!("select * from mintid_leases where id = {} for update", holder.lease().machine);
    let (freed_ms, granted) = behind(&bench, REGISTRY, || wait(bench.any().acquire(TTL)));
    assert!(granted.unwrap().now_ms as i64 >= freed_ms);
    for lock in [REGISTRY, &own] {
        let (client, lease) = (holder.client.clone(), holder.lease());
        let (freed_ms, renewed) = behind(&bench, lock, || wait(client.renew(&lease, TTL)));
        let Renewal::Granted(grant) = renewed else { panic!("{renewed:?}") };
        assert!(grant.now_ms as i64 >= freed_ms, "{lock}");
        holder.grant = grant;
    }
}

/// What happens to a row while a renewal waits for it counts, although the renewal began before.
#[test]
fn a_renewal_sees_what_it_waited_for() {
    let bench = MySqlBench::waiting();
    let holder = settled(&bench);
    let lease = holder.lease();
    let taken =
        format!("update mintid_leases set token = X'00112233445566778899AABBCCDDEEFF' where id = {}", lease.machine);
    let client = holder.client.clone();
    let (_, renewed) = behind(&bench, &taken, || wait(client.renew(&lease, TTL)));
    assert!(matches!(renewed, Renewal::Lost(_)), "{renewed:?}");
    // And a claim sees the wait that was begun while it waited for the registry.
    let reset = "update mintid_registry set not_before = utc_timestamp(6) + interval 1 hour";
    let (_, granted) = behind(&bench, reset, || wait(bench.any().acquire(TTL)));
    assert_eq!(granted.unwrap_err().code(), mintid::error::Code::RegistryReset);
}

#[test]
fn a_row_that_another_claims_is_passed_over() {
    let bench = MySqlBench::new();
    wait(bench.any().acquire(TTL)).unwrap();
    let connection = holding(&bench, "select * from mintid_leases where id <= 4 for update");
    assert_eq!(wait(bench.any().acquire(TTL)).unwrap().lease.machine, 5);
    // All that are left are held: nothing is known of them.
    let error = wait(bench.within(1, 4).acquire(TTL)).unwrap_err();
    assert_eq!(error.retry(), Retry::Soon, "{error}");
    block_on(connection.query("rollback", &[])).unwrap();
    assert_eq!(wait(bench.within(1, 4).acquire(TTL)).unwrap().lease.machine, 1);
}

/// Somebody with the tables open in a console: nobody waits for longer than a request may take.
#[test]
fn a_lock_that_is_not_let_go_is_a_retry() {
    let bench = MySqlBench::waiting();
    let holder = settled(&bench);
    let _connection = holding(&bench, "select * from mintid_registry for update");
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let bench = &bench;
        scope.spawn(move || sender.send(wait(bench.any().acquire(TTL))).unwrap());
        let renewed = wait(holder.client.renew(&holder.lease(), TTL));
        let Renewal::Unknown(error) = renewed else { panic!("{renewed:?}") };
        assert_eq!((error.retry(), error.fields().server_code.as_deref()), (Retry::Soon, Some("1205")));
        let error = receiver.recv_timeout(Duration::from_secs(30)).unwrap().unwrap_err();
        assert_eq!((error.retry(), error.fields().server_code.as_deref()), (Retry::Soon, Some("1205")));
    });
}
