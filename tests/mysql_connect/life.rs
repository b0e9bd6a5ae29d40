//! How connections end, what a session is like, and servers that are full, read-only, or not there.

use super::*;

#[tokio::test]
async fn a_session_is_what_we_say() {
    let server = Server::start(&[
        "default-time-zone = +05:30",
        "autocommit = 0",
        "sql-mode = ANSI",
        "transaction-isolation = SERIALIZABLE",
        "character-set-server = latin1",
        "init-connect = 'set sql_safe_updates = 1, wait_timeout = 5, group_concat_max_len = 77'",
    ]);
    user(&server, "me", PASSWORD, "");
    let connection = open(&url(&server, "me", "")).await.unwrap();
    let isolation = if is_mariadb() { "tx_isolation" } else { "transaction_isolation" };
    let isolation =
        if server.sql("select version() regexp '^1[1-9]'") == "1" { "transaction_isolation" } else { isolation };
    let all = format!(
        "select concat_ws('/', @@time_zone, @@autocommit + 0, @@sql_mode, @@{isolation}, @@sql_safe_updates + 0, \
         @@innodb_lock_wait_timeout, @@wait_timeout, @@character_set_results, @@group_concat_max_len, now() = utc_timestamp())"
    );
    assert_eq!(
        ask(&connection, &all).await.unwrap(),
        "+00:00/1/STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION/READ-COMMITTED/0/4/180/utf8mb4/77/1"
    );
}

#[tokio::test]
async fn its_end_is_noticed() {
    let Shared { server, .. } = shared();
    let connection = open(&root(server)).await.unwrap();
    assert!(!connection.is_closed());
    assert!(timeout(Duration::from_millis(50), connection.closed()).await.is_err());
    let id = ask(&connection, "select connection_id()").await.unwrap();
    server.sql(&format!("kill {id}"));
    timeout(LONG, connection.closed()).await.unwrap().unwrap();
    assert!(connection.is_closed());
    assert_eq!(ask(&connection, "select 1").await.unwrap_err().retry(), Retry::Soon);

    // The server's own timeout for those that are idle; some say so.
    for url in [root(server), url(server, "me", "?ssl-mode=REQUIRED")] {
        let connection = open(&url).await.unwrap();
        connection.query("set wait_timeout = 1", &[]).await.unwrap();
        let why = timeout(LONG, connection.closed()).await.unwrap().unwrap();
        assert_eq!((why.code(), why.retry()), (Code::Coordinator, Retry::Soon), "{why:?}");
        let error = ask(&connection, "select 1").await.unwrap_err();
        assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon), "{error:?}");
        assert_eq!(ask(&open(&url).await.unwrap(), "select 1").await.unwrap(), "1");
    }
}

#[tokio::test]
async fn dropped_it_leaves_no_session() {
    let Shared { server, .. } = shared();
    user(server, "dropped", PASSWORD, "");
    let sessions = "select count(*) from information_schema.processlist where user = 'dropped'";
    let connection = open(&url(server, "dropped", "")).await.unwrap();
    assert_eq!(server.sql(sessions), "1");
    let aborted = server.sql("show global status like 'Aborted_clients'");
    drop(connection);
    // The goodbye is said on this thread.
    let gone = async {
        while server.sql(sessions) != "0" {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG, gone).await.unwrap();
    assert_eq!(server.sql("show global status like 'Aborted_clients'"), aborted);
}

/// A request that is given up: its answer belongs to nobody, and the connection is of no use to anybody else.
#[tokio::test]
async fn given_up_it_goes_on_alone() {
    let Shared { server, .. } = shared();
    let connection = open(&root(server)).await.unwrap();
    assert!(timeout(Duration::from_millis(50), ask(&connection, "select sleep(0.3)")).await.is_err());
    assert_eq!(timeout(LONG, ask(&connection, "select 7")).await.unwrap().unwrap(), "7");
}

#[tokio::test]
async fn a_server_that_dies_and_comes_back() {
    let server = Server::start(&[]);
    user(&server, "me", PASSWORD, "");
    let at = url(&server, "me", "");
    let connection = open(&at).await.unwrap();
    server.pause();
    // Its answer is on its way for ever: what is asked is unknown, and the next connection is a new one.
    assert!(timeout(Duration::from_millis(100), ask(&connection, "select 1")).await.is_err());
    let error = timeout(LONG, open(&format!("{at}?connectTimeout=100"))).await.unwrap().unwrap_err();
    assert!(error.retry() == Retry::Soon && error.message().contains("no connection within 100 ms"), "{error:?}");
    server.kill();
    timeout(LONG, connection.closed()).await.unwrap();
    expect(&open(&at).await.unwrap_err(), Retry::Soon, None, "does the server run");
    server.launch();
    let connection = open(&at).await.unwrap();
    assert_eq!(ask(&connection, "select 1").await.unwrap(), "1");
    // It says goodbye, or nothing.
    server.stop();
    let why = timeout(LONG, connection.closed()).await.unwrap().unwrap();
    assert_eq!((why.code(), why.retry()), (Code::Coordinator, Retry::Soon), "{why:?}");
}

#[tokio::test]
async fn full_of_connections() {
    let server = Server::start(&["max-connections = 10"]);
    user(&server, "me", PASSWORD, "");
    user(&server, "limited", PASSWORD, "with max_user_connections 1");
    user(&server, "counted", PASSWORD, "with max_queries_per_hour 4");
    let _one = open(&url(&server, "limited", "")).await.unwrap();
    let error = open(&url(&server, "limited", "")).await.unwrap_err();
    expect(&error, Retry::Soon, Some("1226"), "used up");
    let counted = open(&url(&server, "counted", "")).await.unwrap();
    let error = loop {
        if let Err(error) = ask(&counted, "select 1").await {
            break error;
        }
    };
    expect(&error, Retry::Soon, Some("1226"), "used up");
    let mut held = Vec::new();
    let error = loop {
        match open(&url(&server, "me", "")).await {
            Ok(connection) => held.push(connection),
            Err(error) => break error,
        }
        assert!(held.len() < 11);
    };
    expect(&error, Retry::Soon, Some("1040"), "raise max_connections");
}

#[tokio::test]
async fn a_server_that_takes_no_writes_is_left() {
    let server = Server::start(&[]);
    user(&server, "me", PASSWORD, "");
    server.sql("create table test.t (id int primary key) engine=innodb");
    let before = open(&url(&server, "me", "")).await.unwrap();
    server.sql("set global read_only = 1");
    let error = before.query("insert into test.t values (1)", &[]).await.unwrap_err();
    expect(&error, Retry::Soon, Some("1290"), "the primary is needed");
    // Also for those who could write.
    for url in [url(&server, "me", ""), root(&server)] {
        expect(&open(&url).await.unwrap_err(), Retry::Soon, None, "the primary is needed");
    }
    server.sql("set global read_only = 0");
    let connection = open(&url(&server, "me", "")).await.unwrap();
    connection.query("set transaction read only", &[]).await.unwrap();
    let error = connection.query("insert into test.t values (1)", &[]).await.unwrap_err();
    expect(&error, Retry::Soon, Some("1792"), "the primary is needed");

    server.stop();
    server.configure(&["innodb-read-only = ON"]);
    server.launch();
    expect(&open(&root(&server)).await.unwrap_err(), Retry::Soon, None, "the primary is needed");
}

#[tokio::test]
async fn one_of_several_hosts_will_do() {
    let (replica, primary) = (Server::start(&["read-only = ON"]), Server::start(&[]));
    user(&primary, "me", PASSWORD, "");
    user(&replica, "me", PASSWORD, "");
    let hosts = format!("127.0.0.1:1,127.0.0.1:{},127.0.0.1:{}", replica.port, primary.port);
    let settings = Settings::parse(&format!("mysql://me:{PASSWORD}@{hosts}/test"), &TlsOptions::default()).unwrap();
    let port = primary.port.to_string();
    for _ in 0..2 {
        assert_eq!(ask(&connect(&settings).await.unwrap(), "select @@port").await.unwrap(), port);
    }
    primary.sql("set global read_only = 1");
    let error = connect(&settings).await.unwrap_err();
    assert_eq!(error.message().matches("the server takes no writes").count(), 2, "{error:?}");
    assert!(error.message().contains("127.0.0.1:1: Connection refused"), "{error:?}");
    assert_eq!(error.retry(), Retry::Soon);
    replica.sql("set global read_only = 0");
    assert_eq!(ask(&connect(&settings).await.unwrap(), "select @@port").await.unwrap(), replica.port.to_string());
    // Whoever refuses us for good ends the search.
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", replica.port, primary.port);
    let error = open(&format!("mysql://me:wrong@{hosts}/test")).await.unwrap_err();
    expect(&error, Retry::Never, Some("1045"), "user or password is wrong");
}

#[tokio::test]
async fn locks_that_others_hold() {
    let Shared { server, .. } = shared();
    server.sql("create table test.locked (id int primary key, n int) engine=innodb; insert into test.locked values (1, 0), (2, 0)");
    let (one, other) = (open(&root(server)).await.unwrap(), open(&root(server)).await.unwrap());
    for connection in [&one, &other] {
        connection.query("begin", &[]).await.unwrap();
    }
    one.query("update test.locked set n = 1 where id = 1", &[]).await.unwrap();
    other.query("update test.locked set n = 1 where id = 2", &[]).await.unwrap();
    let error = other.query("select * from test.locked where id = 1 for update nowait", &[]).await.unwrap_err();
    let code = if is_mariadb() { "1205" } else { "3572" };
    expect(&error, Retry::Soon, Some(code), "");
    let (first, second) = tokio::join!(
        one.query("update test.locked set n = 2 where id = 2", &[]),
        other.query("update test.locked set n = 2 where id = 1", &[])
    );
    let error = first.and(second).unwrap_err();
    expect(&error, Retry::Soon, Some("1213"), "");

    let third = open(&root(server)).await.unwrap();
    let id = ask(&third, "select connection_id()").await.unwrap();
    let (asked, ()) = tokio::join!(third.query("select sleep(30) from test.locked for update", &[]), async {
        let sleeping =
            format!("select count(*) from information_schema.processlist where id = {id} and info like '%sleep%'");
        while ask(&one, &sleeping).await.unwrap() != "1" {}
        one.query(&format!("kill query {id}"), &[]).await.unwrap();
    });
    expect(&asked.unwrap_err(), Retry::Soon, Some("1317"), "");
}
