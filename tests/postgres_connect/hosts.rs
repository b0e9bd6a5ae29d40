//! Several hosts: those that are down, silent, starting up or read-only are passed over.

use std::net::TcpListener;
use std::time::Duration;

use tokio::time::timeout;

use super::*;

fn settings(hosts: &str, query: &str) -> Settings {
    let url = format!("postgres://me:{PASSWORD}@{hosts}/postgres?{query}");
    Settings::parse(&url, &TlsOptions::default()).unwrap()
}

async fn port(connection: &Connection) -> String {
    ask(connection, "select current_setting('port')").await
}

#[tokio::test]
async fn the_one_that_takes_writes_is_found() {
    let primary = &server().cluster;
    let replica = primary.replica();
    let wanted = primary.port.to_string();
    let (down, replica_host) = ("127.0.0.1:1", format!("localhost:{}", replica.port));
    let hosts = format!("{down},{replica_host},localhost:{wanted}");
    for query in ["", "target_session_attrs=read-write", "target_session_attrs=any", "load_balance_hosts=random"] {
        let settings = settings(&hosts, query);
        for _ in 0..3 {
            assert_eq!(port(&connect(&settings).await.unwrap()).await, wanted, "{query}");
        }
    }

    // By itself a replica will do, until something is written.
    let connection = connect(&settings(&replica_host, "")).await.unwrap();
    let error = connection.client.batch_execute("create table x (x int)").await.unwrap_err();
    expect(&failure("postgres://me@localhost:1/x", &error), Retry::Soon, Some("25006"), "the primary is needed");
    let alone = settings(&replica_host, "target_session_attrs=read-write");
    let error = connect(&alone).await.unwrap_err();
    assert!(error.message().ends_with("database does not allow writes"), "{error}");
    expect(&error, Retry::Soon, None, "name the primary");

    // None will do: each is named, with its reason.
    let error = connect(&settings(&format!("{down},{replica_host}"), "")).await.unwrap_err();
    assert!(error.message().contains(&format!(": {down}: Connection refused")), "{error}");
    assert!(error.message().ends_with(&format!("; {replica_host}: database does not allow writes")), "{error}");
    expect(&error, Retry::Soon, None, "name the primary");

    // A wrong password is told at once, though another host is left.
    let url = format!("postgres://me:wrong@{replica_host},localhost:{wanted}/postgres");
    expect(&open(&url).await.unwrap_err(), Retry::Never, Some("28P01"), "user or password is wrong");

    drop(connection);
    replica.configure(&["hot_standby = off"]);
    replica.restart(postgres_cluster::Mode::Fast);
    expect(&connect(&settings(&replica_host, "")).await.unwrap_err(), Retry::Soon, Some("57P03"), "starting up");
    assert_eq!(port(&connect(&settings(&hosts, "")).await.unwrap()).await, wanted);

    replica.configure(&["hot_standby = on"]);
    replica.restart(postgres_cluster::Mode::Fast);
    replica.promote();
    assert_eq!(port(&connect(&alone).await.unwrap()).await, replica.port.to_string());
}

/// It takes connections, and never says a word.
#[tokio::test]
async fn a_silent_host_costs_one_timeout() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (host, wanted) = (silent.local_addr().unwrap().to_string(), server().cluster.port.to_string());
    let alone = settings(&host, "connect_timeout=1");
    let error = timeout(Duration::from_secs(5), connect(&alone)).await.unwrap().unwrap_err();
    assert!(error.message().ends_with("no connection within connect_timeout"), "{error}");
    expect(&error, Retry::Soon, None, "");

    let hosts = format!("{host},localhost:{wanted}");
    let connection = timeout(Duration::from_secs(5), connect(&settings(&hosts, "connect_timeout=1"))).await.unwrap();
    assert_eq!(port(&connection.unwrap()).await, wanted);

    // Whoever gives up by himself does not come to the same host again.
    let settings = settings(&hosts, "");
    assert!(timeout(Duration::from_millis(200), connect(&settings)).await.is_err());
    for _ in 0..2 {
        let connection = timeout(Duration::from_secs(5), connect(&settings)).await.unwrap();
        assert_eq!(port(&connection.unwrap()).await, wanted);
    }
}
