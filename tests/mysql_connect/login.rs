//! Who is let in, and what is said to the others.

use std::net::TcpListener;

use mintid::coordinator::mysql::Value;

use super::*;

#[tokio::test]
async fn every_password_logs_in_pasted_and_encoded() {
    let Shared { server, .. } = shared();
    let secrets = [
        "a/b",
        "a@b",
        "a#b",
        "a:b",
        "a%b",
        "a?b",
        "100%",
        "@",
        "/@:#%?",
        "a@b/c@d",
        "x?y=1",
        "%zz",
        " ä€ ",
        "a'b\"c\\d",
        "ssl-mode=DISABLED",
    ];
    for (index, secret) in secrets.iter().enumerate() {
        let name = format!("password_{index}");
        user(server, &name, secret, "");
        let encoded = secret.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
        for written in [*secret, &encoded] {
            let url = format!("mysql://{name}:{written}@127.0.0.1:{}/test?ssl-mode=PREFERRED", server.port);
            let connection = open(&url).await.unwrap_or_else(|error| panic!("{secret}: {error}"));
            assert_eq!(ask(&connection, "select current_user()").await.unwrap(), format!("{name}@127.0.0.1"));
        }
    }
}

#[tokio::test]
async fn database_and_user_reach_the_server() {
    let Shared { server, .. } = shared();
    let connection = open(&url(server, "me", "")).await.unwrap();
    assert_eq!(ask(&connection, "select concat(user(), database())").await.unwrap(), "me@127.0.0.1test");
    user(server, "nobody", "", "");
    let connection = open(&format!("mariadb://nobody@127.0.0.1:{}/test", server.port)).await.unwrap();
    assert_eq!(ask(&connection, "select current_user()").await.unwrap(), "nobody@127.0.0.1");
    let port = server.port.to_string();
    let pairs = [("host", "127.0.0.1"), ("port", &port), ("user", "me"), ("password", PASSWORD), ("database", "test")];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let connection = connect(&Settings::from_parameters(&pairs, &TlsOptions::default()).unwrap()).await.unwrap();
    assert_eq!(ask(&connection, "select current_user()").await.unwrap(), "me@127.0.0.1");
}

/// A server that everybody has: this machine's own, or the one in `MINTID_TEST_MYSQL` or `MINTID_TEST_MARIADB`.
#[tokio::test]
async fn the_server_that_is_there() {
    let named = ["MINTID_TEST_MYSQL", "MINTID_TEST_MARIADB"].iter().find_map(|name| std::env::var(name).ok());
    let there = named.unwrap_or_else(|| "mysql://root@127.0.0.1:3306/test".to_owned());
    assert_eq!(ask(&open(&there).await.unwrap(), "select 6 * 7").await.unwrap(), "42");
}

#[tokio::test]
async fn unix_sockets() {
    let Shared { server, .. } = shared();
    let path = server.socket();
    let encoded = path.replace('/', "%2F");
    for url in [format!("mysql://me:{PASSWORD}@localhost/test?socket={path}"), format!("mysql://root@{encoded}/test")] {
        let connection = open(&url).await.unwrap();
        assert!(ask(&connection, "select user()").await.unwrap().ends_with("@localhost"));
        assert!(!encrypted(&connection).await);
    }
    let error = open(&format!("mysql://root@localhost/test?socket={path}.nix")).await.unwrap_err();
    expect(&error, Retry::Soon, None, "the path of its Unix socket");
}

/// What is written as text arrives as it was, and so does what is read.
#[tokio::test]
async fn values_are_sent_and_read() {
    let connection = open(&root(&shared().server)).await.unwrap();
    let bytes: Vec<u8> = (0..=255).collect();
    let long = "ä".repeat(100_000);
    let values = [Value::Null, Value::Number(-5), Value::Bytes(&bytes), Value::Text("'\\\"€😀"), Value::Text(&long)];
    let all =
        connection.query("select concat_ws('/', $1 is null, $2 - 1, length($3), char_length($4), length($5))", &values);
    assert_eq!(all.await.unwrap().rows[0].first().unwrap(), "1/-6/256/5/200000");
    let hex = bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02X}"));
    assert_eq!(connection.query("select hex($3)", &values).await.unwrap().rows[0].first().unwrap(), hex);
    let answer = connection.query("select $5 as a union all select $4", &values).await;
    let rows: Vec<_> = answer.unwrap().rows.iter().map(|row| row.first().unwrap()).collect();
    assert_eq!(rows, [long.as_str(), "'\\\"€😀"]);
}

/// How a claim is answered: with the rows it wrote, and a number in its insert ID, in one round trip.
#[tokio::test]
async fn a_write_answers_with_rows_and_a_number() {
    let Shared { server, .. } = shared();
    server.sql("create table test.counted (id int primary key, n bigint) engine=innodb");
    let connection = open(&root(server)).await.unwrap();
    let answer = connection.query("insert into test.counted values (1, 0), (2, 0)", &[]).await.unwrap();
    assert_eq!((answer.affected, answer.insert_id, answer.rows.len()), (2, 0, 0));
    let claim = "update test.counted set n = n + 1 + 0 * last_insert_id((1764500000000 << 16) | id) where id > 1";
    let answer = connection.query(claim, &[]).await.unwrap();
    assert_eq!((answer.affected, answer.insert_id >> 16, answer.insert_id & 0xFFFF), (1, 1_764_500_000_000, 2));
    // A row that was found counts, also where nothing of it has changed.
    let answer = connection.query("update test.counted set n = 0 where id = 1", &[]).await.unwrap();
    assert_eq!((answer.affected, answer.insert_id), (1, 0));
    let answer = connection.query("update test.counted set n = 0 where id = 9", &[]).await.unwrap();
    assert_eq!((answer.affected, answer.insert_id), (0, 0));
}

#[tokio::test]
async fn what_the_server_refuses_for_good_is_told_at_once() {
    let Shared { server, .. } = shared();
    let port = server.port;
    user(server, "locked", PASSWORD, "account lock");
    user(server, "expired", PASSWORD, "password expire");
    user(server, "narrow", PASSWORD, "");
    server.sql("revoke all on test.* from 'narrow'@'127.0.0.1'; grant select on test.* to 'narrow'@'127.0.0.1'");
    let database = |name: &str| url(server, "me", "").replace("/test", &format!("/{name}"));
    let locked = if is_mariadb() { "4151" } else { "3118" };
    for (url, code, advice) in [
        (format!("mysql://me:wrong@127.0.0.1:{port}/test"), "1045", "user or password is wrong"),
        (format!("mysql://me@127.0.0.1:{port}/test"), "1045", "user or password is wrong"),
        (url(server, "stranger", ""), "1045", "user or password is wrong"),
        (database("other"), "1044", "may not use this database"),
        (database("nix"), "1044", "may not use this database"),
        (root(server).replace("/test", "/nix"), "1049", "create the database"),
        (url(server, "locked", ""), locked, "account unlock"),
    ] {
        expect(&open(&url).await.unwrap_err(), Retry::Never, Some(code), advice);
    }
    let error = open(&url(server, "expired", "")).await.unwrap_err();
    assert!(matches!(error.fields().server_code.as_deref(), Some("1820" | "1862")), "{error:?}");
    expect(&error, Retry::Never, error.fields().server_code.as_deref(), "the password has expired");

    let connection = open(&url(server, "narrow", "")).await.unwrap();
    let error = connection.query("create table test.mine (id int primary key)", &[]).await.unwrap_err();
    expect(&error, Retry::Never, Some("1142"), "npx mintid setup");
    let error = connection.query("selekt 1", &[]).await.unwrap_err();
    expect(&error, Retry::Never, Some("1064"), "or newer is needed");
    let error = connection.query("select * from test.nix", &[]).await.unwrap_err();
    expect(&error, Retry::Soon, Some("1146"), "");
    // One statement has one answer: a second one is never sent.
    let error = connection.query("select 1; select 2", &[]).await.unwrap_err();
    expect(&error, Retry::Never, Some("1064"), "or newer is needed");
    assert_eq!(ask(&connection, "select 3").await.unwrap(), "3");
}

#[tokio::test]
async fn a_server_that_lets_nobody_in_from_here() {
    let server = Server::start(&[]);
    server.sql("drop user if exists root@'127.0.0.1', root@'::1'");
    let error = open(&url(&server, "root", "")).await.unwrap_err();
    expect(&error, Retry::Never, Some("1130"), "may come from this address");
}

#[tokio::test]
async fn what_is_no_server_of_that_kind_is_noticed() {
    for said in
        [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"\x04\0\0\0nope", b"SSH-2.0-OpenSSH_9.2\r\n", b"\x01\0\0\x07\x0a"]
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("mysql://me@127.0.0.1:{}/test", listener.local_addr().unwrap().port());
        let other = std::thread::spawn(move || {
            use std::io::Write as _;
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(said).unwrap();
            stream
        });
        // It does not hang up.
        let stream = tokio::task::spawn_blocking(move || other.join().unwrap());
        let (error, _stream) = timeout(LONG, async { tokio::join!(open(&url), stream) }).await.unwrap();
        expect(&error.unwrap_err(), Retry::Never, None, "the port of a MySQL");
    }
    expect(&open("mysql://me@127.0.0.1:1/test").await.unwrap_err(), Retry::Soon, None, "does the server run");
    let error = open("mysql://me@host.invalid/test").await.unwrap_err();
    assert!(error.retry() == Retry::Soon && error.message().contains("cannot find the host"), "{error:?}");
}
