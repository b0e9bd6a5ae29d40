//! TLS: what is verified, and what is said when it does not work.

use std::sync::OnceLock;

use super::*;
use certificates::{Authority, Signed};

struct Secured {
    server: Server,
    authority: Authority,
    /// One that nobody trusts.
    stranger: Authority,
}

/// A server that wants a certificate only where a test says so.
fn secured() -> &'static Secured {
    static SERVER: OnceLock<Secured> = OnceLock::new();
    SERVER.get_or_init(|| {
        let authority = Authority::new("mintid test root");
        let server = start(&authority, &authority.server(&["localhost"]), "no");
        Secured { server, authority, stranger: Authority::new("somebody else's root") }
    })
}

fn start(authority: &Authority, Signed { cert, key }: &Signed, clients: &str) -> Server {
    let server = Server::prepare();
    server.secure(cert, key, &authority.pem);
    server.configure(&[&format!("tls-auth-clients {clients}")]);
    server.launch();
    server
}

fn options(ca: Option<&Authority>) -> TlsOptions {
    let mut options = TlsOptions::default();
    options.ca = ca.map(|authority| authority.pem.clone()).into_iter().collect();
    options
}

async fn check(url: &str, tls: &TlsOptions, expected: Result<(), &str>) {
    let opened = connect(&Settings::parse(url, tls).unwrap(), KEY).await;
    match (opened, expected) {
        (Ok(connection), Ok(())) => assert_eq!(eval(&connection, "return 1").await.unwrap(), "1"),
        (Err(error), Err(advice)) => expect(&error, Retry::Never, None, advice),
        (Ok(_), Err(advice)) => panic!("{url}: expected {advice}"),
        (Err(error), Ok(())) => panic!("{url}: {error:?}"),
    }
}

#[tokio::test]
async fn what_is_verified() {
    let Secured { server, authority, stranger } = secured();
    let root = server.write("ca.crt", &authority.pem);
    let wrong = server.write("wrong-ca.crt", &stranger.pem);
    let (untrusted, misnamed) = (Err("none of the trusted roots"), Err("is another host's"));
    // The certificate names localhost alone.
    for (host, query, expected) in [
        ("localhost", format!("?ssl_ca_certs={root}"), Ok(())),
        ("localhost", format!("?ssl_ca_certs={wrong}"), untrusted),
        ("127.0.0.1", format!("?ssl_ca_certs={root}"), misnamed),
        ("127.0.0.1", format!("?ssl_ca_certs={root}&ssl_check_hostname=false"), Ok(())),
        ("localhost", format!("?ssl_ca_certs={wrong}&ssl_check_hostname=false"), untrusted),
        ("127.0.0.1", "?ssl_cert_reqs=none".to_owned(), Ok(())),
        ("127.0.0.1", "#insecure".to_owned(), Ok(())),
        // Not among the operating system's roots.
        ("localhost", String::new(), Err("tls.ca")),
    ] {
        let url = format!("rediss://{host}:{}/1{query}", server.tls_port);
        check(&url, &TlsOptions::default(), expected).await;
    }
}

#[tokio::test]
async fn the_option_tls() {
    let Secured { server, authority, stranger } = secured();
    for (host, ca, servername, reject, expected) in [
        ("localhost", Some(authority), None, None, Ok(())),
        ("localhost", Some(stranger), None, None, Err("none of the trusted roots")),
        ("localhost", Some(stranger), None, Some(false), Ok(())),
        ("localhost", None, None, Some(true), Err("tls.ca")),
        ("127.0.0.1", Some(authority), None, None, Err("is another host's")),
        ("127.0.0.1", Some(authority), Some("localhost"), None, Ok(())),
        ("localhost", Some(authority), Some("other.example"), None, Err("is another host's")),
    ] {
        let mut options = options(ca);
        (options.servername, options.reject_unauthorized) = (servername.map(str::to_owned), reject);
        for scheme in ["redis", "rediss"] {
            check(&format!("{scheme}://{host}:{}", server.tls_port), &options, expected).await;
        }
    }
}

/// In a process of its own, since a process reads the operating system's roots once.
#[tokio::test]
async fn the_roots_of_the_operating_system() {
    if let Ok(url) = std::env::var("MINTID_TEST_SYSTEM_ROOTS") {
        return check(&url, &TlsOptions::default(), Ok(())).await;
    }
    let Secured { server, authority, .. } = secured();
    let root = server.write("system.crt", &authority.pem);
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tls::the_roots_of_the_operating_system"])
        .env("MINTID_TEST_SYSTEM_ROOTS", format!("valkeys://localhost:{}", server.tls_port))
        .env("SSL_CERT_FILE", &root)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
}

#[tokio::test]
async fn client_certificates() {
    let Secured { authority, stranger, .. } = secured();
    let server = start(authority, &authority.server(&["localhost"]), "yes");
    let url = format!("rediss://localhost:{}", server.tls_port);
    let mut ours = options(Some(authority));
    // With TLS 1.3 the server says so after the handshake, as the first answer or as the end of the connection.
    let refused = async |options: &TlsOptions, advice: &str| {
        let error = connect(&Settings::parse(&url, options).unwrap(), KEY).await.unwrap_err();
        expect(&error, Retry::Never, None, advice);
    };
    refused(&ours, "the server wants a certificate: tls.cert and tls.key").await;
    let Signed { cert, key } = stranger.client("me");
    (ours.cert, ours.key) = (Some(cert), Some(key));
    refused(&ours, "tls-ca-cert-file").await;
    let Signed { cert, key } = authority.client("me");
    let files =
        format!("{url}?ssl_certfile={}&ssl_keyfile={}", server.write("me.crt", &cert), server.write("me.key", &key));
    check(&files, &options(Some(authority)), Ok(())).await;
    (ours.cert, ours.key) = (Some(cert), Some(key));
    check(&url, &ours, Ok(())).await;
}

#[tokio::test]
async fn the_wrong_kind_of_port() {
    let Secured { server, authority, .. } = secured();
    let error = open(&format!("redis://localhost:{}", server.tls_port)).await.unwrap_err();
    expect(&error, Retry::Soon, None, "does that port want TLS?");
    let settings = Settings::parse(&format!("rediss://localhost:{}", server.port), &options(Some(authority))).unwrap();
    let error = connect(&settings, KEY).await.unwrap_err();
    assert!(error.fields().hint.as_ref().is_some_and(|hint| hint.contains("does that port speak TLS?")), "{error:?}");
}

#[tokio::test]
async fn a_certificate_that_has_expired() {
    let Secured { authority, .. } = secured();
    let server = start(authority, &authority.expired(&["localhost"]), "no");
    let url = format!("rediss://localhost:{}", server.tls_port);
    check(&url, &options(Some(authority)), Err("has expired: renew it")).await;
    check(&format!("{url}#insecure"), &TlsOptions::default(), Ok(())).await;
}
