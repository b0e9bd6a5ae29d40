//! Connections to real MySQL and MariaDB servers, as users have them: passwords, plugins, TLS, sockets, several hosts, and
//! every refusal. They are MariaDB's of this machine, or whatever is in the folder in `MINTID_TEST_MYSQL_BIN`.

#![cfg(all(feature = "mysql", unix))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../support/certificates.rs"]
mod certificates;
mod life;
mod login;
#[path = "../support/mysql_server.rs"]
mod mysql_server;
mod plugins;
mod tls;

use std::sync::OnceLock;
use std::time::Duration;

use mintid::coordinator::mysql::{Connection, Settings, connect};
use mintid::coordinator::tls::TlsOptions;
use mintid::error::{Code, Error, Retry};
use tokio::time::timeout;

use certificates::{Authority, Signed};
use mysql_server::{Server, is_mariadb};

/// The password of every user whose password does not matter.
const PASSWORD: &str = "pa/s@s#w:o%r?d";

/// How long something may take that is never waited for in full.
const LONG: Duration = Duration::from_secs(30);

/// A server with TLS that all tests share, none of which changes more of it than its own users.
struct Shared {
    server: Server,
    authority: Authority,
    /// One that nobody trusts.
    stranger: Authority,
}

fn shared() -> &'static Shared {
    static SERVER: OnceLock<Shared> = OnceLock::new();
    SERVER.get_or_init(|| {
        let authority = Authority::new("mintid test root");
        let server = Server::prepare();
        let Signed { cert, key } = authority.server(&["localhost"]);
        server.secure(&cert, &key, &authority.pem);
        server.launch();
        server.sql("create database test; create database other");
        user(&server, "me", PASSWORD, "");
        Shared { server, authority, stranger: Authority::new("somebody else's root") }
    })
}

/// Makes a user that may do everything with the database `test`, coming from anywhere on this machine.
fn user(server: &Server, name: &str, password: &str, rest: &str) {
    let password = password.replace('\\', "\\\\").replace('\'', "''");
    for host in ["127.0.0.1", "localhost"] {
        let name = format!("'{name}'@'{host}'");
        server.sql(&format!("create user {name} identified by '{password}' {rest}; grant all on test.* to {name}"));
    }
}

/// A URL of a server for `user`, with the password as people paste it.
fn url(server: &Server, user: &str, tail: &str) -> String {
    format!("mysql://{user}:{PASSWORD}@127.0.0.1:{}/test{tail}", server.port)
}

/// The same through the Unix socket, as `root`.
fn root(server: &Server) -> String {
    format!("mysql://root@localhost/test?socket={}", server.socket())
}

async fn open(url: &str) -> Result<Connection, Error> {
    connect(&Settings::parse(url, &TlsOptions::default())?).await
}

/// The only value of a statement's answer, as text.
async fn ask(connection: &Connection, statement: &str) -> Result<String, Error> {
    let answer = connection.query(statement, &[]).await?;
    Ok(answer.rows.first().and_then(mintid::coordinator::mysql::Row::first).unwrap_or_default())
}

/// Whether the session is encrypted.
async fn encrypted(connection: &Connection) -> bool {
    let schema = if is_mariadb() { "information_schema" } else { "performance_schema" };
    let asked = format!("select variable_value from {schema}.session_status where variable_name = 'Ssl_version'");
    ask(connection, &asked).await.unwrap().starts_with("TLSv1.")
}

/// What an error of a connection must be, and that it shows no password.
#[track_caller]
fn expect(error: &Error, retry: Retry, server_code: Option<&str>, advice: &str) {
    let shown = format!("{error} {error:?}");
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, retry), "{shown}");
    assert_eq!(error.fields().server_code.as_deref(), server_code, "{shown}");
    assert!(error.fields().hint.as_deref().unwrap_or_default().contains(advice), "{shown}");
    let place = error.fields().coordinator.as_deref().unwrap_or_default();
    assert!(place.starts_with("mysql://") && error.message().starts_with(place), "{shown}");
    assert!(!shown.contains("pa/s") && !shown.contains("o%r?d"), "{shown}");
}
