//! Who is let in, and what is said to the others.

use std::net::TcpListener;
use std::sync::OnceLock;

use mintid::coordinator::redis::Argument;

use super::*;

/// A server that all tests share, none of which changes more of it than its own users.
fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = Server::start(&[]);
        user(&server, "me", PASSWORD, &["~*", "+@all"]);
        user(&server, "nameless", PASSWORD, &["~*", "+eval", "+evalsha"]);
        user(&server, "narrow", PASSWORD, &["~mintid:*", "+eval", "+evalsha", "+hset"]);
        user(&server, "powerless", PASSWORD, &["~*", "+ping"]);
        user(&server, "disabled", PASSWORD, &["~*", "+@all", "off"]);
        server.ask(&["ACL", "SETUSER", "open", "on", "nopass", "~*", "+@all"]);
        server
    })
}

fn user(server: &Server, name: &str, password: &str, rules: &[&str]) {
    let password = format!(">{password}");
    server.ask(&[&["ACL", "SETUSER", name, "on", &password], rules].concat());
}

fn url(user: &str, tail: &str) -> String {
    format!("redis://{user}:{PASSWORD}@localhost:{}{tail}", server().port)
}

#[tokio::test]
async fn every_password_logs_in_pasted_and_encoded() {
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
        "#insecure",
    ];
    for (index, secret) in secrets.iter().enumerate() {
        let name = format!("password_{index}");
        user(server(), &name, secret, &["~*", "+@all"]);
        let encoded = secret.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
        for written in [*secret, &encoded] {
            let url = format!("redis://{name}:{written}@localhost:{}/1?connectionName=x@y", server().port);
            let connection = open(&url).await.unwrap_or_else(|error| panic!("{secret}: {error}"));
            assert_eq!(ask(&connection, &["ACL", "WHOAMI"]).await, name);
        }
    }
}

#[tokio::test]
async fn database_name_and_user_reach_the_server() {
    let connection = open(&url("me", "/3?connectionName=checkout")).await.unwrap();
    let info = ask(&connection, &["CLIENT", "INFO"]).await;
    assert!(info.contains(" db=3 ") && info.contains(" name=checkout ") && info.contains(" user=me "), "{info}");
    // A user whose password does not matter, one that knows no names, and nobody.
    for (user, tail, name) in [("open@", "?family=6", "mintid"), ("", "", "mintid"), ("", "?clientName=%20", "nil")] {
        let connection = open(&format!("redis://{user}localhost:{}{tail}", server().port)).await.unwrap();
        assert_eq!(ask(&connection, &["CLIENT", "GETNAME"]).await, name);
    }
    let connection = open(&url("nameless", "")).await.unwrap();
    assert_eq!(eval(&connection, "return 7").await.unwrap(), "7");
    let port = server().port.to_string();
    let pairs = [("host", "127.0.0.1"), ("port", &port), ("username", "me"), ("password", PASSWORD), ("db", "2")];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let connection = connect(&Settings::from_parameters(&pairs, &TlsOptions::default()).unwrap(), KEY).await.unwrap();
    assert!(ask(&connection, &["CLIENT", "INFO"]).await.contains(" db=2 "));
}

#[tokio::test]
async fn unix_sockets() {
    let path = server().socket();
    for url in [format!("unix://{path}?db=2"), format!("redis+unix://me:{PASSWORD}@{path}?db=2")] {
        let info = ask(&open(&url).await.unwrap(), &["CLIENT", "INFO"]).await;
        assert!(info.contains(" db=2 ") && info.contains(&path), "{info}");
    }
    let error = open(&format!("unix://{path}.nix")).await.unwrap_err();
    expect(&error, Retry::Soon, None, "the path of its Unix socket");
}

/// In a server of its own, since it forgets every script.
#[tokio::test]
async fn scripts_are_sent_when_the_server_does_not_know_them() {
    let server = Server::start(&[]);
    let connection = open(&format!("redis://localhost:{}", server.port)).await.unwrap();
    let script = Script::new("return KEYS[1] .. ARGV[1] .. ARGV[2] .. #ARGV[3]");
    let arguments: [Argument<'_>; 3] = ["a".into(), (-5).into(), (&[0_u8, 255, 10][..]).into()];
    let said = |part: &str| {
        let stats = server.ask(&["INFO", "commandstats"]);
        let line = stats.lines().find(|line| line.starts_with(&format!("cmdstat_{part}:"))).unwrap_or_default();
        line.split(['=', ',']).nth(1).unwrap_or("0").to_owned()
    };
    for _ in 0..3 {
        assert_eq!(text(connection.eval(&script, &[KEY], &arguments).await.unwrap()), "mintid:testa-53");
    }
    assert_eq!((said("evalsha"), said("eval")), ("3".to_owned(), "1".to_owned()));
    server.ask(&["SCRIPT", "FLUSH"]);
    assert_eq!(text(connection.eval(&script, &[KEY], &arguments).await.unwrap()), "mintid:testa-53");
    assert_eq!((said("evalsha"), said("eval")), ("4".to_owned(), "2".to_owned()));
}

#[tokio::test]
async fn what_the_server_refuses_for_good_is_told_at_once() {
    let port = server().port;
    for (url, code, advice) in [
        (format!("redis://me:wrong@localhost:{port}"), "WRONGPASS", "user or password is wrong"),
        (format!("redis://me@localhost:{port}"), "WRONGPASS", "redis://:password@host"),
        (url("nobody", ""), "WRONGPASS", "user or password is wrong"),
        (url("disabled", ""), "WRONGPASS", "disabled"),
        (format!("redis://:x@localhost:{port}"), "ERR", "leave it out"),
        (url("me", "/99"), "ERR", "no database of that number"),
        (url("powerless", "/1"), "NOPERM", "+eval"),
    ] {
        expect(&open(&url).await.unwrap_err(), Retry::Never, Some(code), advice);
    }
    let connection = open(&url("powerless", "")).await.unwrap();
    expect(&eval(&connection, "return 1").await.unwrap_err(), Retry::Never, Some("NOPERM"), "~mintid:* +eval");
    let connection = open(&url("narrow", "")).await.unwrap();
    let error = eval(&connection, "return redis.call('hget', KEYS[1], 'x')").await.unwrap_err();
    assert_eq!(error.retry(), Retry::Never, "{error:?}");
    assert!(error.fields().hint.as_ref().is_some_and(|hint| hint.contains("+hset")), "{error:?}");
    let error = connection.eval(&Script::new("return 1"), &["other"], &[]).await.unwrap_err();
    expect(&error, Retry::Never, Some("NOPERM"), "~mintid:*");
    let error = connection.command(&[b"INFO"]).await.unwrap_err();
    expect(&error, Retry::Never, Some("NOPERM"), "+info");

    let connection = open(&url("me", "")).await.unwrap();
    let error = connection.command(&[b"NIX"]).await.unwrap_err();
    expect(&error, Retry::Never, Some("ERR"), "Redis 6.2 or newer");
    expect(&eval(&connection, "return (").await.unwrap_err(), Retry::Never, Some("ERR"), "");
    let error = connection.eval(&Script::new("return redis.call('set', KEYS[1], 1)"), &["text"], &[]).await;
    error.unwrap();
    let error =
        connection.eval(&Script::new("return redis.call('hget', KEYS[1], 1)"), &["text"], &[]).await.unwrap_err();
    expect(&error, Retry::Never, Some("WRONGTYPE"), "another namespace");
}

#[tokio::test]
async fn a_password_that_is_missing_is_asked_for() {
    let server = Server::start(&[&format!("requirepass {PASSWORD}")]);
    let port = server.port;
    let error = open(&format!("redis://localhost:{port}")).await.unwrap_err();
    expect(&error, Retry::Never, Some("NOAUTH"), "asks for a password");
    let error = open(&format!("redis://localhost:{port}/1")).await.unwrap_err();
    expect(&error, Retry::Never, Some("NOAUTH"), "asks for a password");
    open(&format!("redis://:{PASSWORD}@localhost:{port}/1")).await.unwrap();
}

#[tokio::test]
async fn what_is_no_redis_is_noticed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let other = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 64]).unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    let error = open(&format!("redis://127.0.0.1:{port}")).await.unwrap_err();
    expect(&error, Retry::Never, None, "the port of a Redis");
    other.join().unwrap();
    expect(&open("redis://127.0.0.1:1").await.unwrap_err(), Retry::Soon, None, "does the server run");
    let name = "x".repeat(64);
    let error = open(&format!("redis://{name}.invalid")).await.unwrap_err();
    assert!(error.message().contains(&format!("cannot find the host {name}.invalid:6379")), "{error}");
    expect(&error, Retry::Soon, None, "");
}

#[tokio::test]
async fn a_silent_server_costs_one_timeout() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}?connectTimeout=100", silent.local_addr().unwrap());
    let error = timeout(LONG, open(&url)).await.unwrap().unwrap_err();
    assert!(error.message().ends_with("no connection within 100 ms"), "{error}");
    expect(&error, Retry::Soon, None, "");
}
