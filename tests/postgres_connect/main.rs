//! Connections to real PostgreSQL servers, as users have them: passwords, TLS, sockets, several hosts, and every refusal.

#![cfg(all(feature = "postgres", unix))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../support/certificates.rs"]
mod certificates;
mod hosts;
mod life;
mod login;
#[path = "../support/postgres_cluster.rs"]
mod postgres_cluster;
mod tls;

use std::sync::OnceLock;

use mintid::coordinator::postgres::{Connection, Settings, connect, failure};
use mintid::coordinator::tls::TlsOptions;
use mintid::error::{Code, Error, Retry};

use certificates::{Authority, Signed};
use postgres_cluster::Cluster;

/// The password of every role whose password does not matter.
const PASSWORD: &str = "pa/s@s#w:o%r?d";

/// A server with TLS that all tests share, none of which changes more of it than its own roles.
struct Server {
    cluster: Cluster,
    authority: Authority,
    /// One that nobody trusts.
    stranger: Authority,
}

/// Who comes in how.
const ACCESS: &[&str] = &[
    "hostssl   all tls_only   samehost scram-sha-256",
    "hostnossl all plain_only samehost scram-sha-256",
    "hostssl   all certified  samehost cert",
    "host      all md5        samehost md5",
    "host      all rejected   samehost reject",
    "host      all unheard_of samehost scram-sha-256",
    "host      all +people    samehost scram-sha-256",
    "local     all all                 scram-sha-256",
];

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let authority = Authority::new("mintid test root");
        let cluster = Cluster::prepare();
        let Signed { cert, key } = authority.server(&["localhost"]);
        cluster.secure(&cert, &key, &authority.pem);
        cluster.let_in(ACCESS);
        cluster.configure(&["log_line_prefix = '%m [%p] %a: '"]);
        cluster.launch();
        for role in ["tls_only", "plain_only", "certified", "rejected"] {
            cluster.sql(&format!("create role {role} login password '{PASSWORD}'"));
        }
        cluster.sql(&format!("set password_encryption = md5; create role md5 login password '{PASSWORD}'"));
        let people = format!("login in role people password '{PASSWORD}'");
        cluster.sql(&format!(
            "create role people; create role me {people}; create role limited {people} connection limit 1"
        ));
        cluster.sql("create role no_login in role people password 'x'");
        cluster.sql("create database closed");
        cluster.sql("revoke connect on database closed from public");
        Server { cluster, authority, stranger: Authority::new("somebody else's root") }
    })
}

impl Server {
    /// A URL of this server for `user`, with the password as people paste it.
    fn url(&self, user: &str, host: &str, tail: &str) -> String {
        format!("postgres://{user}:{PASSWORD}@{host}:{}/{tail}", self.cluster.port)
    }
}

async fn open(url: &str) -> Result<Connection, Error> {
    open_with(url, &TlsOptions::default()).await
}

async fn open_with(url: &str, tls: &TlsOptions) -> Result<Connection, Error> {
    connect(&Settings::parse(url, tls)?).await
}

/// The first value of the answer, as text.
async fn ask(connection: &Connection, statement: &str) -> String {
    let row = connection.client.query_one(statement, &[]).await.unwrap();
    row.try_get::<_, String>(0).unwrap()
}

/// Whether the session is encrypted.
async fn encrypted(connection: &Connection) -> bool {
    ask(connection, "select ssl::text from pg_stat_ssl where pid = pg_backend_pid()").await == "true"
}

/// What an error of a connection must be, and that it shows no password.
#[track_caller]
fn expect(error: &Error, retry: Retry, server_code: Option<&str>, advice: &str) {
    let shown = format!("{error} {error:?}");
    assert_eq!((error.code(), error.retry()), (Code::Coordinator, retry), "{shown}");
    assert_eq!(error.fields().server_code.as_deref(), server_code, "{shown}");
    assert!(error.fields().hint.as_deref().unwrap_or_default().contains(advice), "{shown}");
    let place = error.fields().coordinator.as_deref().unwrap_or_default();
    assert!(place.starts_with("postgres://") && error.message().starts_with(place), "{shown}");
    assert!(!shown.contains("pa/s") && !shown.contains("o%r?d"), "{shown}");
}
