//! Who is let in, and what is said to the others.

use super::*;

#[tokio::test]
async fn every_password_logs_in_pasted_and_encoded() {
    let server = server();
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
    ];
    for (index, secret) in secrets.iter().enumerate() {
        let role = format!("password_{index}");
        server.cluster.sql(&format!("create role {role} login in role people password $secret${secret}$secret$"));
        let encoded = secret.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
        for written in [*secret, &encoded] {
            let url =
                format!("postgres://{role}:{written}@localhost:{}/postgres?application_name=x@y", server.cluster.port);
            let connection = open(&url).await.unwrap_or_else(|error| panic!("{secret}: {error}"));
            assert_eq!(ask(&connection, "select current_user::text").await, role);
        }
    }
}

#[tokio::test]
async fn the_object_form_logs_in() {
    let server = server();
    let port = server.cluster.port.to_string();
    let pairs =
        [("host", "localhost"), ("port", &port), ("user", "me"), ("password", PASSWORD), ("database", "postgres")];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let settings = Settings::from_parameters(&pairs, &TlsOptions::default()).unwrap();
    assert_eq!(ask(&connect(&settings).await.unwrap(), "select current_user::text").await, "me");
    let url = Settings::parse(&server.url("me", "localhost", "postgres"), &TlsOptions::default()).unwrap();
    assert_eq!(settings.address(), url.address());
}

#[tokio::test]
async fn options_and_application_name_reach_the_server() {
    let server = server();
    let tail = "postgres?options=-c%20search_path%3Done%2Ctwo&application_name=checkout";
    let connection = open(&server.url("me", "localhost", tail)).await.unwrap();
    assert_eq!(ask(&connection, "select current_setting('search_path')").await, "one,two");
    assert_eq!(ask(&connection, "select current_setting('application_name')").await, "checkout");
    let connection = open(&server.url("me", "localhost", "postgres?connection_limit=1&pgbouncer=true")).await.unwrap();
    assert_eq!(ask(&connection, "select current_setting('application_name')").await, "mintid");
}

#[tokio::test]
async fn unix_sockets_in_both_spellings() {
    let server = server();
    let (folder, port) = (server.cluster.socket_folder(), server.cluster.port);
    let encoded = folder.replace('/', "%2F");
    for url in [
        format!("postgres://me:{PASSWORD}@{encoded}:{port}/postgres"),
        format!("postgres://me:{PASSWORD}@/postgres?host={folder}&port={port}"),
        // As in libpq, a socket has no TLS, whatever is asked for.
        format!("postgres://me:{PASSWORD}@/postgres?host={encoded}&port={port}&sslmode=verify-full"),
    ] {
        let connection = open(&url).await.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(ask(&connection, "select coalesce(inet_server_addr()::text, 'socket')").await, "socket");
    }
    let hosts = format!("127.0.0.1:1,{encoded}:{port}");
    open(&format!("postgres://me:{PASSWORD}@{hosts}/postgres?sslmode=verify-full&sslrootcert=system")).await.unwrap();
    let error = open(&format!("postgres://me:x@/postgres?host={folder}&port=1")).await.unwrap_err();
    expect(&error, Retry::Soon, None, "the folder of its Unix socket");
}

#[tokio::test]
async fn what_the_server_refuses_for_good_is_told_at_once() {
    let server = server();
    let port = server.cluster.port;
    for (url, code, advice) in [
        (format!("postgres://me:wrong@localhost:{port}/postgres"), Some("28P01"), "user or password is wrong"),
        (format!("postgres://me:pa@localhost:{port}/postgres"), Some("28P01"), "user or password is wrong"),
        (format!("postgres://me@localhost:{port}/postgres"), None, "put it into the URL"),
        (server.url("unheard_of", "localhost", "postgres"), Some("28P01"), "user or password is wrong"),
        (server.url("me", "localhost", "nix"), Some("3D000"), "create the database"),
        (server.url("me", "localhost", "closed"), Some("42501"), "grant the role that right"),
        (server.url("rejected", "localhost", "postgres"), Some("28000"), "pg_hba.conf"),
        (server.url("tls_only", "localhost", "postgres?sslmode=disable"), Some("28000"), "sslmode=require"),
        (server.url("plain_only", "localhost", "postgres?sslmode=require"), Some("28000"), "pg_hba.conf"),
        (format!("postgres://no_login:x@localhost:{port}/postgres"), Some("28000"), "may not log in"),
    ] {
        expect(&open(&url).await.unwrap_err(), Retry::Never, code, advice);
    }
}

#[tokio::test]
async fn what_may_be_otherwise_soon_is_told_as_such() {
    let server = server();
    let url = server.url("limited", "localhost", "postgres");
    let first = open(&url).await.unwrap();
    expect(&open(&url).await.unwrap_err(), Retry::Soon, Some("53300"), "max_connections");
    drop(first);
    // Nobody listens on port 1, and no name is as long as that.
    expect(&open("postgres://me@127.0.0.1:1/postgres").await.unwrap_err(), Retry::Soon, None, "does the server run");
    let name = "x".repeat(64);
    let error = open(&format!("postgres://me@{name}.invalid/postgres")).await.unwrap_err();
    assert!(error.message().contains(&format!("cannot find the host {name}.invalid:5432")), "{error}");
    expect(&error, Retry::Soon, None, "");
}

#[tokio::test]
async fn statements_are_refused_in_the_same_words() {
    let server = server();
    let connection = open(&server.url("me", "localhost", "postgres")).await.unwrap();
    let refused = async |statement: &str| {
        let error = connection.client.batch_execute(statement).await.unwrap_err();
        failure("postgres://me@localhost:5432/postgres", &error)
    };
    expect(&refused("create table public.x (x int)").await, Retry::Never, Some("42501"), "npx mintid setup");
    expect(&refused("create table nix.x (x int)").await, Retry::Never, Some("3F000"), "create the schema");
    expect(&refused("select * from nix").await, Retry::Soon, Some("42P01"), "");
    expect(&refused("selekt").await, Retry::Never, Some("42601"), "PostgreSQL 12 or newer");
    expect(&refused("set statement_timeout = 1; select pg_sleep(60)").await, Retry::Soon, Some("57014"), "");
    let statement = "begin; set transaction read only; create table y (x int)";
    expect(&refused(statement).await, Retry::Soon, Some("25006"), "the primary is needed");
}
