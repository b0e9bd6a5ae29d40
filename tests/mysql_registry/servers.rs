//! What happens to servers: they are started again, fall over to a replica, become read-only, or have settings of their own.

use std::sync::Arc;

use mintid::coordinator::registry::{Mode, OnReset, Registry};
use mintid::coordinator::{Coordinator, Renewal};
use mintid::error::{Code, Retry};

use crate::mysql_server::{Server, is_mariadb};
use crate::registry_suite::{must_wait, renewed, settled};
use crate::support::bench::{Bench, Holder, wait};
use crate::support::mysql::MySqlBench;
use crate::support::registry::{RegistryBench as _, TTL};

/// As `root`, who may write where others may not.
fn root(server: &Server) -> String {
    format!("mysql://root@localhost/test?socket={}", server.socket())
}

/// The same registry after its server was started again.
fn again(server: &Server, crash: bool) {
    if crash {
        server.kill();
    } else {
        server.stop();
    }
    server.launch();
    server.settle();
}

fn started(configuration: &[&str]) -> Server {
    let server = Server::start(configuration);
    server.settle();
    server
}

#[test]
fn a_restart_is_noticed_and_a_durable_incarnation_does_not_mind() {
    // The last second of commits is lost with the process.
    let server = started(&["innodb-flush-log-at-trx-commit = 0"]);
    let bench = MySqlBench::waiting_at(&root(&server));
    let mut holder = settled(&bench);
    for crash in [false, true] {
        again(&server, crash);
        assert!(must_wait(&*bench.any()), "crash: {crash}");
        renewed(&mut holder).unwrap_or_else(|lost| panic!("a holder was stopped: {lost:?}"));
        bench.step(TTL.as_millis() as i64 / 2);
        renewed(&mut holder).unwrap();
    }
    let durable = || {
        bench.client_with(|setup| {
            setup.namespace = "durable".into();
            setup.agreement.durable = true;
        })
    };
    wait(durable().setup(Mode::Fresh)).unwrap();
    assert!(!must_wait(&durable()));
    again(&server, false);
    assert!(!must_wait(&durable()));
    bench.run("do sleep(1.1); alter table mintid_leases engine=InnoDB");
    assert!(must_wait(&durable()), "another table is another registry all the same");
}

/// Two starts within one second look the same: what the first one granted in it, the second one could have forgotten.
#[test]
fn a_server_that_has_just_started_leases_nothing() {
    let server = started(&[]);
    let bench = MySqlBench::waiting_at(&root(&server));
    let mut holder = settled(&bench);
    let uptime = |server: &Server| {
        let status = server.sql("show global status like 'Uptime'");
        status.split_ascii_whitespace().last().unwrap().parse::<u32>().unwrap()
    };
    let (renewed, granted) = loop {
        server.kill();
        server.launch();
        let client = bench.client_with(|setup| setup.on_reset = OnReset::Grant);
        let asked = (holder.try_renew(TTL), wait(client.acquire(TTL)));
        // A machine that was busy with something else is asked again.
        if uptime(&server) <= 1 {
            break asked;
        }
    };
    let Err(Renewal::Unknown(error)) = renewed else { panic!("{renewed:?}") };
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon), "{error}");
    let error = granted.unwrap_err();
    assert!(error.retry() == Retry::Soon && error.message().ends_with("the server has just started"), "{error}");
    server.settle();
    assert!(must_wait(&*bench.any()));
    holder.try_renew(TTL).unwrap();
}

/// Also where somebody may write in spite of it, over a connection that was open before.
#[test]
fn a_primary_that_became_read_only_grants_nothing() {
    let server = started(&[]);
    let bench = MySqlBench::waiting_at(&root(&server));
    settled(&bench);
    let client: Arc<dyn Coordinator> = Arc::new(bench.client_with(|setup| setup.keep_open = true));
    let mut holder = Holder::of(Arc::clone(&client), TTL).unwrap();
    server.sql("set global read_only = 1");
    let renewal = wait(client.renew(&holder.lease(), TTL));
    let Renewal::Unknown(error) = renewal else { panic!("{renewal:?}") };
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon), "{error}");
    let error = wait(client.acquire(TTL)).unwrap_err();
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon), "{error}");
    assert!(error.fields().hint.as_ref().is_some_and(|hint| hint.contains("the primary is needed")), "{error:?}");
    server.sql("set global read_only = 0");
    renewed(&mut holder).unwrap();
}

/// What a proxy may do to a session that it shares.
#[test]
fn a_session_in_another_time_zone_decides_nothing() {
    let bench = MySqlBench::waiting();
    let mut holder = settled(&bench);
    let elsewhere = || {
        let zone = |text: &str| text.replace("@@session.time_zone = '+00:00'", "@@session.time_zone = '+05:30'");
        bench.client_with(|setup| setup.on_reset = OnReset::Grant).rewritten(&zone)
    };
    let Renewal::Unknown(renewal) = wait(elsewhere().renew(&holder.lease(), TTL)) else { panic!("renewed") };
    bench.run("update mintid_registry set incarnation = 'another'");
    let claim = wait(elsewhere().acquire(TTL)).unwrap_err();
    let setup = wait(elsewhere().setup(Mode::Fresh)).unwrap_err();
    for error in [renewal, claim, setup] {
        assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon), "{error}");
        assert!(error.message().contains("time zone"), "{error}");
    }
    assert!(must_wait(&*bench.any()), "adopted by a wrong clock");
    holder.renew(TTL);
}

#[test]
fn no_setting_of_the_server_gets_in_the_way() {
    let mut settings = vec![
        "default-time-zone = +05:30",
        "autocommit = 0",
        "sql-mode = ANSI,NO_UNSIGNED_SUBTRACTION,HIGH_NOT_PRECEDENCE,NO_BACKSLASH_ESCAPES",
        "transaction-isolation = SERIALIZABLE",
        "character-set-server = latin1",
        "sysdate-is-now",
        "log-bin = binlog",
        "server-id = 7",
        "binlog-format = MIXED",
        "lower-case-table-names = 1",
    ];
    if !is_mariadb() {
        // That one is fixed when the data is made.
        settings.pop();
        settings.extend(["gtid-mode = ON", "enforce-gtid-consistency = ON", "performance-schema = OFF"]);
    }
    let server = started(&settings);
    let bench = MySqlBench::waiting_at(&root(&server));
    let mut holder = settled(&bench);
    assert!((holder.grant.now_ms as i64).abs_diff(bench.now_ms()) < 5000);
    let before = renewed(&mut holder).unwrap();
    bench.step(1000);
    assert!(renewed(&mut holder).unwrap().end_ms >= before.end_ms + 1000);
    again(&server, false);
    assert!(must_wait(&*bench.any()));
    renewed(&mut holder).unwrap();
    holder.release(before.start_ms);
    // What a replica could not follow is refused, and why.
    server.sql("set global binlog_format = 'STATEMENT'");
    let error = wait(bench.any().acquire(TTL)).unwrap_err();
    assert_eq!((error.retry(), error.fields().server_code.as_deref()), (Retry::Never, Some("1665")), "{error}");
}

/// A failover to a replica: another server, whatever it has missed.
#[test]
fn a_replica_that_takes_over_makes_newcomers_wait() {
    let gtid = ["log-bin = binlog", "binlog-format = ROW"];
    let extra: &[&str] = if is_mariadb() { &[] } else { &["gtid-mode = ON", "enforce-gtid-consistency = ON"] };
    let start = |id: &str| started(&[&gtid[..], extra, &[id]].concat());
    let (primary, replica) = (start("server-id = 1"), start("server-id = 2"));
    let bench = MySqlBench::waiting_at(&root(&primary));
    follow(&replica, &primary);
    let mut holder = settled(&bench);
    renewed(&mut holder).unwrap();
    let end = format!("select count(*) from {}.mintid_leases where expires_at > utc_timestamp()", bench.database());
    replica.wait_for(&end, "1");
    // It takes writes, and the primary is not reached any more.
    primary.pause();
    let after = bench.at(&root(&replica));
    assert!(must_wait(&after));
    let renewal = wait(after.renew(&holder.lease(), TTL));
    assert!(matches!(renewal, Renewal::Granted(_)), "a holder was stopped: {renewal:?}");
    primary.resume();
    let granted = bench.client_with(|setup| setup.on_reset = OnReset::Grant);
    wait(granted.acquire(TTL)).expect("the primary itself is the same as before");
}

fn follow(replica: &Server, primary: &Server) {
    primary.sql("create user if not exists copy@'127.0.0.1' identified by 'copy'; grant replication slave on *.* to copy@'127.0.0.1'");
    let port = primary.port;
    if is_mariadb() {
        replica.sql(&format!(
            "change master to master_host = '127.0.0.1', master_port = {port}, master_user = 'copy', \
             master_password = 'copy', master_use_gtid = slave_pos; set global slave_exec_mode = 'IDEMPOTENT'; start slave"
        ));
    } else {
        replica.sql(&format!(
            "change replication source to source_host = '127.0.0.1', source_port = {port}, source_user = 'copy', \
             source_password = 'copy', source_auto_position = 1, get_source_public_key = 1; \
             set global replica_exec_mode = 'IDEMPOTENT'; start replica"
        ));
    }
}
