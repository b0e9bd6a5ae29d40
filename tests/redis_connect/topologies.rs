//! Sentinel and Cluster: the one server that takes writes is found, also after it has become another one.

use super::*;

const WRITE: &str = "return redis.call('hincrby', KEYS[1], 'a', 1)";

async fn port(connection: &Connection) -> String {
    text(connection.command(&[b"CONFIG", b"GET", b"port"]).await.unwrap())
        .chars()
        .filter(char::is_ascii_digit)
        .collect()
}

#[tokio::test]
async fn sentinels_name_the_master() {
    let primary = Server::start(&[&format!("requirepass {PASSWORD}"), &format!("masterauth {PASSWORD}")]);
    let authenticated = [&format!("requirepass {PASSWORD}")[..], &format!("masterauth {PASSWORD}")];
    let replica = Server::start(&[&authenticated[..], &[&format!("replicaof 127.0.0.1 {}", primary.port)]].concat());
    let sentinel =
        Server::sentinel(&primary, &[&format!("sentinel auth-pass mymaster {PASSWORD}"), "requirepass watch"]);
    let hosts = format!("127.0.0.1:1,localhost:{}", sentinel.port);
    let url = format!("redis+sentinel://:{PASSWORD}@{hosts}/mymaster?sentinelPassword=watch");
    let settings = Settings::parse(&url, &TlsOptions::default()).unwrap();
    let connection = connect(&settings, KEY).await.unwrap();
    assert_eq!(
        (port(&connection).await, eval(&connection, WRITE).await.unwrap()),
        (primary.port.to_string(), "1".to_owned())
    );

    let plain = Server::start(&[]);
    for (url, code, advice) in [
        (format!("redis+sentinel://:{PASSWORD}@{hosts}/mymaster"), Some("NOAUTH"), "sentinelPassword"),
        (
            format!("redis+sentinel://:{PASSWORD}@{hosts}/mymaster?sentinelPassword=x"),
            Some("WRONGPASS"),
            "sentinelPassword",
        ),
        (format!("redis+sentinel://:{PASSWORD}@{hosts}/other?sentinelPassword=watch"), None, "sentinel monitor"),
        (format!("redis+sentinel://{hosts}/mymaster?sentinelPassword=watch"), Some("NOAUTH"), "redis://:password@host"),
        (
            format!("redis+sentinel://:x@{hosts}/mymaster?sentinelPassword=watch"),
            Some("WRONGPASS"),
            "password is wrong",
        ),
        (format!("redis+sentinel://localhost:{}/mymaster", plain.port), Some("ERR"), "is that a Sentinel?"),
    ] {
        expect(&open(&url).await.unwrap_err(), Retry::Never, code, advice);
    }

    sentinel.wait_for(&["-a", "watch", "SENTINEL", "MASTER", "mymaster"], "num-slaves\n1");
    primary.kill();
    timeout(LONG, connection.closed()).await.unwrap();
    let connection = open_soon(&settings).await;
    assert_eq!(port(&connection).await, replica.port.to_string());
    sentinel.kill();
    let error = connect(&settings, KEY).await.unwrap_err();
    assert!(error.message().contains("127.0.0.1:1: Connection refused") && error.message().contains("; "), "{error}");
    expect(&error, Retry::Soon, None, "does the server run");
}

#[tokio::test]
async fn a_master_that_is_none_is_not_taken() {
    let (primary, other) = (Server::start(&[]), Server::start(&[]));
    let sentinel = Server::sentinel(&primary, &["sentinel down-after-milliseconds mymaster 600000"]);
    primary.ask(&["REPLICAOF", "127.0.0.1", &other.port.to_string()]);
    let error = open(&format!("redis+sentinel://localhost:{}/mymaster", sentinel.port)).await.unwrap_err();
    assert!(error.message().ends_with(&format!("127.0.0.1:{}: it is no master", primary.port)), "{error}");
    expect(&error, Retry::Soon, None, "a failover is under way");
}

#[tokio::test]
async fn the_node_of_the_key_is_found_and_followed() {
    let nodes = redis_server::cluster(&[]);
    let slot = nodes[0].ask(&["CLUSTER", "KEYSLOT", KEY]);
    let owner = slot.parse::<usize>().unwrap() * 3 / 16384;
    let (next, third) = ((owner + 1) % 3, (owner + 2) % 3);
    let ids = nodes.each_ref().map(|node| node.ask(&["CLUSTER", "MYID"]));
    let url = format!("redis+cluster://127.0.0.1:{}", nodes[next].port);
    let settings = Settings::parse(&url, &TlsOptions::default()).unwrap();
    let connection = connect(&settings, KEY).await.unwrap();
    assert_eq!(
        (port(&connection).await, eval(&connection, WRITE).await.unwrap()),
        (nodes[owner].port.to_string(), "1".to_owned())
    );
    let alone = open(&format!("redis://127.0.0.1:{}", nodes[next].port)).await.unwrap();
    expect(&eval(&alone, WRITE).await.unwrap_err(), Retry::Soon, Some("MOVED"), "cluster=true");
    let error = open(&format!("{url}/1")).await.unwrap_err();
    expect(&error, Retry::Never, Some("ERR"), "usually has only 0");

    // The slot is on its way to the next node, and so is the key.
    nodes[next].ask(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &ids[owner]]);
    nodes[owner].ask(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &ids[next]]);
    assert_eq!(eval(&connection, WRITE).await.unwrap(), "2");
    nodes[owner].ask(&["MIGRATE", "127.0.0.1", &nodes[next].port.to_string(), KEY, "0", "5000"]);
    expect(&eval(&connection, WRITE).await.unwrap_err(), Retry::Soon, Some("ASK"), "moved the key");
    let connection = connect(&settings, KEY).await.unwrap();
    assert_eq!(
        (port(&connection).await, eval(&connection, WRITE).await.unwrap()),
        (nodes[next].port.to_string(), "3".to_owned())
    );
    for node in [next, owner, third] {
        nodes[node].ask(&["CLUSTER", "SETSLOT", &slot, "NODE", &ids[next]]);
    }
    assert_eq!(eval(&connection, WRITE).await.unwrap(), "4");
    let connection = connect(&settings, KEY).await.unwrap();
    assert_eq!(eval(&connection, WRITE).await.unwrap(), "5");

    // A node that is gone is still named by the others.
    nodes[next].kill();
    timeout(LONG, connection.closed()).await.unwrap();
    let dead = format!("127.0.0.1:{}", nodes[next].port);
    let seeds = [next, third, owner].map(|node| format!("127.0.0.1:{}", nodes[node].port)).join(",");
    let settings = Settings::parse(&format!("redis://{seeds}?cluster=true"), &TlsOptions::default()).unwrap();
    let error = connect(&settings, KEY).await.unwrap_err();
    let expected = format!(": {dead}: Connection refused");
    assert_eq!(error.message().matches(&expected).count(), 3, "{error}");
    expect(&error, Retry::Soon, None, "does the server run");

    // Until somebody takes its place.
    nodes[third].ask(&["CLUSTER", "DELSLOTS", &slot]);
    let error = open(&format!("redis+cluster://127.0.0.1:{}", nodes[third].port)).await.unwrap_err();
    expect(&error, Retry::Soon, Some("CLUSTERDOWN"), "a part of the cluster is down");
    nodes[third].ask(&["CLUSTER", "ADDSLOTS", &slot]);
    assert_eq!(port(&open_soon(&settings).await).await, nodes[third].port.to_string());
}
