//! How connections end, and a server whose certificates change.

use std::time::Duration;

use tokio::time::timeout;

use super::*;
use postgres_cluster::Mode;

/// Long enough for a busy machine, and never waited for in full.
const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn its_end_is_noticed_and_explained() {
    let server = server();
    let connection = open(&server.url("me", "localhost", "postgres")).await.unwrap();
    assert!(!connection.is_closed());
    let pid = ask(&connection, "select pg_backend_pid()::text").await;
    assert!(timeout(Duration::from_millis(50), connection.closed()).await.is_err());
    server.cluster.sql(&format!("select pg_terminate_backend({pid})"));
    let why = timeout(LONG, connection.closed()).await.unwrap().unwrap();
    expect(&why, Retry::Soon, Some("57P01"), "");
    assert!(connection.is_closed());
    assert!(connection.client.batch_execute("select 1").await.is_err());
}

#[tokio::test]
async fn dropped_it_leaves_no_session() {
    let server = server();
    let tail = "postgres?application_name=dropped";
    let connection = open(&server.url("me", "localhost", tail)).await.unwrap();
    let sessions = "select count(*) from pg_stat_activity where application_name = 'dropped'";
    assert_eq!(server.cluster.sql(sessions), "1");
    drop(connection);
    let gone = async {
        while server.cluster.sql(sessions) != "0" {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG, gone).await.unwrap();
    // It said goodbye: the server notes each session that ends otherwise.
    let log = server.cluster.log();
    let noted: Vec<_> = log.lines().filter(|line| line.contains(" dropped: ")).collect();
    assert!(noted.is_empty(), "{noted:?}");
}

/// One server after another: without TLS, with a certificate that has expired, with its own as the root.
#[tokio::test]
async fn a_server_that_is_stopped_and_gets_other_certificates() {
    let cluster = Cluster::start(&[], &["host all all samehost scram-sha-256"]);
    cluster.sql(&format!("create role me login password '{PASSWORD}'"));
    let url = |query: &str| format!("postgres://me:{PASSWORD}@localhost:{}/postgres?{query}", cluster.port);

    let connection = open(&url("")).await.unwrap();
    assert!(!encrypted(&connection).await);
    for query in ["sslmode=require", "sslmode=verify-full"] {
        expect(&open(&url(query)).await.unwrap_err(), Retry::Never, None, "turn ssl on at the server");
    }
    let error = open(&url("channel_binding=require")).await.unwrap_err();
    expect(&error, Retry::Never, None, "channel_binding=require needs TLS");

    // A session keeps it from stopping; meanwhile nobody else is let in.
    cluster.begin_to_stop(Mode::Smart);
    let refused = async {
        loop {
            match open(&url("")).await {
                Ok(_) => {}
                Err(error) => break error,
            }
        }
    };
    expect(&timeout(LONG, refused).await.unwrap(), Retry::Soon, Some("57P03"), "shutting down");
    cluster.stop(Mode::Immediate);
    let why = timeout(LONG, connection.closed()).await.unwrap().unwrap();
    assert_eq!(why.retry(), Retry::Soon);
    expect(&open(&url("")).await.unwrap_err(), Retry::Soon, None, "does the server run");

    let authority = Authority::new("root");
    let root = cluster.write("ca.crt", &authority.pem);
    let Signed { cert, key } = authority.expired(&["localhost"]);
    cluster.secure(&cert, &key, &authority.pem);
    cluster.launch();
    for mode in ["verify-ca", "verify-full"] {
        let error = open(&url(&format!("sslmode={mode}&sslrootcert={root}"))).await.unwrap_err();
        expect(&error, Retry::Never, None, "has expired: renew it");
    }
    assert!(encrypted(&open(&url("sslmode=require")).await.unwrap()).await);

    let Signed { cert, key } = certificates::self_signed(&["localhost"]);
    cluster.secure(&cert, &key, &authority.pem);
    cluster.restart(Mode::Fast);
    let own = cluster.write("own.crt", &cert);
    for mode in ["verify-ca", "verify-full"] {
        let connection =
            open(&url(&format!("sslmode={mode}&sslrootcert={own}&channel_binding=require"))).await.unwrap();
        assert!(encrypted(&connection).await, "{mode}");
        let error = open(&url(&format!("sslmode={mode}&sslrootcert={root}"))).await.unwrap_err();
        expect(&error, Retry::Never, None, "tls.ca");
    }
}
