//! TLS: what is verified, and what is said when it does not work.

use super::*;

fn options(ca: Option<&Authority>) -> TlsOptions {
    let mut options = TlsOptions::default();
    options.ca = ca.map(|authority| authority.pem.clone()).into_iter().collect();
    options
}

fn secured(authority: &Authority, Signed { cert, key }: &Signed) -> Server {
    let server = Server::prepare();
    server.secure(cert, key, &authority.pem);
    server.launch();
    server.sql("create database test");
    user(&server, "me", PASSWORD, "");
    server
}

async fn check(url: &str, tls: &TlsOptions, expected: Result<bool, &str>) {
    let opened = connect(&Settings::parse(url, tls).unwrap()).await;
    match (opened, expected) {
        (Ok(connection), Ok(expected)) => assert_eq!(encrypted(&connection).await, expected, "{url}"),
        (Err(error), Err(advice)) => expect(&error, Retry::Never, error.fields().server_code.as_deref(), advice),
        (Ok(_), Err(advice)) => panic!("{url}: expected {advice}"),
        (Err(error), Ok(_)) => panic!("{url}: {error:?}"),
    }
}

#[tokio::test]
async fn what_is_verified() {
    let Shared { server, authority, stranger } = shared();
    let root = server.write("ca.crt", &authority.pem);
    let wrong = server.write("wrong-ca.crt", &stranger.pem);
    let (untrusted, misnamed) = (Err("none of the trusted roots"), Err("is another host's"));
    // The certificate names localhost alone.
    for (host, query, expected) in [
        ("127.0.0.1", "ssl-mode=DISABLED".to_owned(), Ok(false)),
        ("127.0.0.1", String::new(), Ok(true)),
        ("127.0.0.1", "ssl-mode=PREFERRED".to_owned(), Ok(true)),
        ("127.0.0.1", "ssl-mode=REQUIRED".to_owned(), Ok(true)),
        ("127.0.0.1", format!("ssl-mode=VERIFY_CA&ssl-ca={root}"), Ok(true)),
        ("localhost", format!("ssl-mode=VERIFY_CA&ssl-ca={wrong}"), untrusted),
        ("127.0.0.1", format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={root}"), misnamed),
        ("localhost", format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={root}"), Ok(true)),
        ("localhost", format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={wrong}"), untrusted),
        ("localhost", format!("sslaccept=strict&sslcert={root}"), Ok(true)),
        ("127.0.0.1", format!("sslaccept=strict&sslcert={root}"), misnamed),
        ("127.0.0.1", "tls=skip-verify".to_owned(), Ok(true)),
        // Not among the operating system's roots.
        ("localhost", "ssl=true".to_owned(), Err("tls.ca")),
    ] {
        let url = format!("mysql://me:{PASSWORD}@{host}:{}/test?{query}", server.port);
        check(&url, &TlsOptions::default(), expected).await;
    }
}

#[tokio::test]
async fn the_option_tls() {
    let Shared { server, authority, stranger } = shared();
    for (host, ca, servername, reject, expected) in [
        ("localhost", Some(authority), None, None, Ok(true)),
        ("localhost", Some(stranger), None, None, Err("none of the trusted roots")),
        ("localhost", Some(stranger), None, Some(false), Ok(true)),
        ("localhost", None, None, Some(true), Err("tls.ca")),
        ("127.0.0.1", Some(authority), None, None, Err("is another host's")),
        ("127.0.0.1", Some(authority), Some("localhost"), None, Ok(true)),
        ("localhost", Some(authority), Some("other.example"), None, Err("is another host's")),
    ] {
        let mut options = options(ca);
        (options.servername, options.reject_unauthorized) = (servername.map(str::to_owned), reject);
        let url = format!("mysql://me:{PASSWORD}@{host}:{}/test", server.port);
        check(&url, &options, expected).await;
    }
}

/// In a process of its own, since a process reads the operating system's roots once.
#[tokio::test]
async fn the_roots_of_the_operating_system() {
    if let Ok(url) = std::env::var("MINTID_TEST_SYSTEM_ROOTS") {
        return check(&url, &TlsOptions::default(), Ok(true)).await;
    }
    let Shared { server, authority, .. } = shared();
    let root = server.write("system.crt", &authority.pem);
    let url = format!("mysql://me:{PASSWORD}@localhost:{}/test?ssl-mode=VERIFY_IDENTITY", server.port);
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tls::the_roots_of_the_operating_system"])
        .env("MINTID_TEST_SYSTEM_ROOTS", url)
        .env("SSL_CERT_FILE", &root)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
}

#[tokio::test]
async fn users_that_need_tls_or_a_certificate() {
    let Shared { server, authority, stranger } = shared();
    user(server, "tls_only", PASSWORD, "require ssl");
    user(server, "certified", PASSWORD, "require x509");
    let plain = url(server, "tls_only", "?ssl-mode=DISABLED");
    check(&plain, &TlsOptions::default(), Err("the server wants TLS: ssl-mode=REQUIRED")).await;
    check(&url(server, "tls_only", ""), &TlsOptions::default(), Ok(true)).await;

    let at = url(server, "certified", "").replace("127.0.0.1", "localhost");
    let mut ours = options(Some(authority));
    check(&at, &ours, Err("user or password is wrong")).await;
    let Signed { cert, key } = stranger.client("me");
    (ours.cert, ours.key) = (Some(cert), Some(key));
    // It says so after the handshake, or ends the connection.
    let error = connect(&Settings::parse(&at, &ours).unwrap()).await.unwrap_err();
    assert_eq!(error.code(), Code::Coordinator, "{error:?}");
    let Signed { cert, key } = authority.client("me");
    let files = format!("?ssl-cert={}&ssl-key={}", server.write("me.crt", &cert), server.write("me.key", &key));
    check(&format!("{at}{files}"), &options(Some(authority)), Ok(true)).await;
    (ours.cert, ours.key) = (Some(cert), Some(key));
    check(&at, &ours, Ok(true)).await;
}

#[tokio::test]
async fn a_server_that_wants_tls() {
    let Shared { authority, .. } = shared();
    let server = Server::prepare();
    let Signed { cert, key } = authority.server(&["localhost"]);
    server.secure(&cert, &key, &authority.pem);
    server.configure(&["require-secure-transport = ON"]);
    server.launch();
    server.sql("create database test");
    user(&server, "me", PASSWORD, "");
    let error = open(&url(&server, "me", "?ssl-mode=DISABLED")).await.unwrap_err();
    // Older ones say that the password is wrong.
    assert!(matches!(error.fields().server_code.as_deref(), Some("3159" | "1045")), "{error:?}");
    expect(&error, Retry::Never, error.fields().server_code.as_deref(), "the server wants TLS: ssl-mode=REQUIRED");
    assert!(encrypted(&open(&url(&server, "me", "")).await.unwrap()).await);
}

#[tokio::test]
async fn a_server_without_tls() {
    let Shared { authority, .. } = shared();
    let server = Server::start(if is_mariadb() { &["ssl = OFF"] } else { &["tls-version ="] });
    user(&server, "me", PASSWORD, "");
    check(&url(&server, "me", ""), &TlsOptions::default(), Ok(false)).await;
    for query in ["?ssl-mode=REQUIRED", "?ssl-mode=VERIFY_IDENTITY", "?sslaccept=strict"] {
        check(&url(&server, "me", query), &TlsOptions::default(), Err("ssl-mode=DISABLED")).await;
    }
    check(&url(&server, "me", ""), &options(Some(authority)), Err("ssl-mode=DISABLED")).await;
}

#[tokio::test]
async fn certificates_that_are_special() {
    let Shared { authority, .. } = shared();
    let server = secured(authority, &authority.expired(&["localhost"]));
    let at = url(&server, "me", "").replace("127.0.0.1", "localhost");
    check(&at, &options(Some(authority)), Err("has expired: renew it")).await;
    check(&format!("{at}?ssl-mode=REQUIRED"), &TlsOptions::default(), Ok(true)).await;

    let own = certificates::self_signed(&["localhost"]);
    let server = secured(authority, &own);
    let at = url(&server, "me", "").replace("127.0.0.1", "localhost");
    let mut options = TlsOptions::default();
    options.ca = vec![own.cert.clone()];
    check(&at, &options, Ok(true)).await;
    options.ca = vec![certificates::self_signed(&["localhost"]).cert];
    let error = connect(&Settings::parse(&at, &options).unwrap()).await.unwrap_err();
    assert!(error.retry() == Retry::Never && error.fields().hint.is_some(), "{error:?}");
}
