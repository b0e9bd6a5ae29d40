//! How connections end, and servers that are full, busy, starting up or replicas.

use super::*;

fn url(server: &Server) -> String {
    format!("redis://localhost:{}", server.port)
}

#[tokio::test]
async fn its_end_is_noticed() {
    let server = Server::start(&[]);
    let connection = open(&url(&server)).await.unwrap();
    assert!(!connection.is_closed());
    assert!(timeout(Duration::from_millis(50), connection.closed()).await.is_err());
    let id = ask(&connection, &["CLIENT", "ID"]).await;
    server.ask(&["CLIENT", "KILL", "ID", &id]);
    timeout(LONG, connection.closed()).await.unwrap();
    assert!(connection.is_closed());
    expect(&eval(&connection, "return 1").await.unwrap_err(), Retry::Soon, None, "");

    // The server's own timeout for those that are idle.
    server.ask(&["CONFIG", "SET", "timeout", "1"]);
    let connection = open(&url(&server)).await.unwrap();
    timeout(LONG, connection.closed()).await.unwrap();
    expect(&eval(&connection, "return 1").await.unwrap_err(), Retry::Soon, None, "");
    assert_eq!(eval(&open(&url(&server)).await.unwrap(), "return 1").await.unwrap(), "1");
}

#[tokio::test]
async fn dropped_it_leaves_no_session() {
    let server = Server::start(&[]);
    let connection = open(&format!("{}?connectionName=dropped", url(&server))).await.unwrap();
    assert!(server.ask(&["CLIENT", "LIST"]).contains(" name=dropped "));
    drop(connection);
    let gone = async {
        while server.ask(&["CLIENT", "LIST"]).contains(" name=dropped ") {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG, gone).await.unwrap();
}

#[tokio::test]
async fn a_server_that_dies_and_comes_back() {
    let server = Server::start(&[]);
    let connection = open(&url(&server)).await.unwrap();
    server.pause();
    // Its answer is on its way for ever: what is asked is unknown, and the next connection is a new one.
    assert!(timeout(Duration::from_millis(100), eval(&connection, "return 1")).await.is_err());
    server.kill();
    timeout(LONG, connection.closed()).await.unwrap();
    expect(&open(&url(&server)).await.unwrap_err(), Retry::Soon, None, "does the server run");
    server.launch();
    assert_eq!(eval(&open(&url(&server)).await.unwrap(), "return 1").await.unwrap(), "1");
}

#[tokio::test]
async fn full_of_data_or_of_clients() {
    let server = Server::start(&["maxmemory 1", "maxmemory-policy noeviction", "maxclients 5"]);
    let first = open(&url(&server)).await.unwrap();
    let error = eval(&first, "return redis.call('hset', KEYS[1], 'a', 'b')").await.unwrap_err();
    expect(&error, Retry::Soon, Some("OOM"), "raise maxmemory");
    let mut held = vec![first];
    let error = loop {
        match open(&url(&server)).await {
            Ok(connection) => held.push(connection),
            Err(error) => break error,
        }
        assert!(held.len() < 9);
    };
    // The server says so before it has read anything, and the network may lose that.
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Soon), "{error:?}");
}

/// As it does when it is full, or in protected mode.
#[tokio::test]
async fn a_server_that_says_no_before_it_is_asked() {
    for (text, retry, code, advice) in [
        ("-ERR max number of clients reached", Retry::Soon, "ERR", "raise maxclients"),
        ("-DENIED Redis is running in protected mode", Retry::Never, "DENIED", "requirepass"),
    ] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("redis://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            use std::io::{Read as _, Write as _};
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(format!("{text}\r\n").as_bytes()).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            stream.read_to_end(&mut Vec::new()).unwrap();
        });
        expect(&timeout(LONG, open(&url)).await.unwrap().unwrap_err(), retry, Some(code), advice);
        // It waits for the end of our side, which is made on this thread.
        let joined = tokio::task::spawn_blocking(move || server.join().unwrap());
        timeout(LONG, joined).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn busy_with_somebodys_script() {
    let server = Server::start(&["busy-reply-threshold 1"]);
    let (busy, other) = (open(&url(&server)).await.unwrap(), open(&url(&server)).await.unwrap());
    let forever = Script::new("while true do end");
    let (first, ()) = tokio::join!(busy.eval(&forever, &[KEY], &[]), async {
        let told = async {
            loop {
                if let Err(error) = eval(&other, "return 1").await {
                    break error;
                }
            }
        };
        expect(&timeout(LONG, told).await.unwrap(), Retry::Soon, Some("BUSY"), "keeps the server busy");
        assert_eq!(ask(&other, &["SCRIPT", "KILL"]).await, "OK");
    });
    expect(&first.unwrap_err(), Retry::Soon, Some("ERR"), "");
}

#[tokio::test]
async fn a_replica_takes_no_writes() {
    let primary = Server::start(&["min-replicas-to-write 1"]);
    let write = "return redis.call('hset', KEYS[1], 'a', 'b')";
    let connection = open(&url(&primary)).await.unwrap();
    let error = eval(&connection, write).await.unwrap_err();
    expect(&error, Retry::Soon, Some("NOREPLICAS"), "min-replicas-to-write");
    let replica = Server::replica(&primary, &["replica-serve-stale-data no"]);
    primary.wait_for(&["INFO", "replication"], "min_slaves_good_slaves:1");
    assert_eq!(eval(&connection, write).await.unwrap(), "1");
    assert_eq!(ask(&connection, &["WAIT", "1", "20000"]).await, "1");

    let reader = open(&url(&replica)).await.unwrap();
    expect(&eval(&reader, write).await.unwrap_err(), Retry::Soon, Some("READONLY"), "the master is needed");
    primary.stop();
    replica.wait_for(&["INFO", "replication"], "master_link_status:down");
    expect(&eval(&reader, write).await.unwrap_err(), Retry::Soon, Some("MASTERDOWN"), "without its master");
}

#[tokio::test]
async fn while_it_reads_its_data() {
    let server =
        Server::start(&["appendonly no", "key-load-delay 100000", "loading-process-events-interval-bytes 1024"]);
    eval(&open(&url(&server)).await.unwrap(), "for i = 1, 300 do redis.call('set', i, string.rep('x', 1000)) end")
        .await
        .unwrap();
    server.ask(&["SAVE"]);
    server.kill();
    server.launch();
    let error = eval(&open(&url(&server)).await.unwrap(), "return 1").await.unwrap_err();
    expect(&error, Retry::Soon, Some("LOADING"), "reading its data");
}
