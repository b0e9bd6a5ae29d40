//! TLS: what is encrypted, what is verified, and what is said when it does not work.

use super::*;

/// Whether a connection is encrypted, or what its error advises.
type Expected = Result<bool, &'static str>;

async fn check(url: &str, tls: &TlsOptions, expected: Expected) {
    match (open_with(url, tls).await, expected) {
        (Ok(connection), Ok(tls)) => assert_eq!(encrypted(&connection).await, tls, "{url}"),
        (Err(error), Err(advice)) => expect(&error, Retry::Never, None, advice),
        (Ok(_), Err(advice)) => panic!("{url}: expected {advice}"),
        (Err(error), Ok(_)) => panic!("{url}: {error:?}"),
    }
}

#[tokio::test]
async fn each_sslmode() {
    let server = server();
    let root = server.cluster.write("ca.crt", &server.authority.pem);
    let wrong = server.cluster.write("wrong-ca.crt", &server.stranger.pem);
    let both = server.cluster.write("both-ca.crt", &format!("{}{}", server.stranger.pem, server.authority.pem));
    let (untrusted, misnamed) = (Err("none of the trusted roots"), Err("is another host's"));
    // The certificate names localhost alone.
    for (host, query, expected) in [
        ("localhost", "sslmode=disable".to_owned(), Ok(false)),
        ("localhost", "sslmode=allow".to_owned(), Ok(true)),
        ("localhost", "sslmode=prefer".to_owned(), Ok(true)),
        ("localhost", String::new(), Ok(true)),
        ("localhost", "sslmode=require".to_owned(), Ok(true)),
        ("localhost", "ssl=true".to_owned(), Ok(true)),
        ("localhost", "ssl=false".to_owned(), Ok(false)),
        ("localhost", "sslmode=no-verify".to_owned(), Ok(true)),
        ("127.0.0.1", "sslmode=require".to_owned(), Ok(true)),
        ("localhost", format!("sslmode=require&sslrootcert={root}"), Ok(true)),
        ("localhost", format!("sslmode=require&sslrootcert={wrong}"), untrusted),
        ("localhost", format!("sslrootcert={wrong}"), untrusted),
        ("localhost", format!("sslmode=no-verify&sslrootcert={wrong}"), Ok(true)),
        ("localhost", format!("sslmode=verify-ca&sslrootcert={root}"), Ok(true)),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={root}"), Ok(true)),
        ("localhost", format!("sslmode=verify-ca&sslrootcert={wrong}"), untrusted),
        ("localhost", format!("sslmode=verify-full&sslrootcert={root}"), Ok(true)),
        ("localhost", format!("sslmode=verify-full&sslrootcert={both}"), Ok(true)),
        ("localhost", format!("sslmode=verify-full&sslrootcert={root}&hostaddr=127.0.0.1"), Ok(true)),
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={root}"), misnamed),
        ("localhost", format!("sslmode=verify-full&sslrootcert={wrong}"), untrusted),
        ("localhost", format!("sslmode=verify-full&sslrootcert={root}&ssl_min_protocol_version=TLSv1.3"), Ok(true)),
        // Not among the operating system's roots.
        ("localhost", "sslmode=verify-full".to_owned(), Err("tls.ca")),
    ] {
        check(&server.url("me", host, &format!("postgres?{query}")), &TlsOptions::default(), expected).await;
    }
}

#[tokio::test]
async fn the_option_tls() {
    let server = server();
    let options = |ca: Option<&Authority>, servername: Option<&str>, reject| {
        let mut options = TlsOptions::default();
        options.ca = ca.map(|authority| authority.pem.clone()).into_iter().collect();
        (options.servername, options.reject_unauthorized) = (servername.map(str::to_owned), reject);
        options
    };
    let (ours, wrong) = (Some(&server.authority), Some(&server.stranger));
    for (host, ca, servername, reject, expected) in [
        ("localhost", ours, None, None, Ok(true)),
        ("localhost", wrong, None, None, Err("none of the trusted roots")),
        ("localhost", wrong, None, Some(false), Ok(true)),
        ("localhost", None, None, Some(false), Ok(true)),
        ("localhost", None, None, Some(true), Err("tls.ca")),
        ("127.0.0.1", ours, None, None, Err("is another host's")),
        ("127.0.0.1", ours, Some("localhost"), None, Ok(true)),
        ("localhost", ours, Some("other.example"), Some(true), Err("is another host's")),
    ] {
        check(&server.url("me", host, "postgres"), &options(ca, servername, reject), expected).await;
    }
}

/// In a process of its own, since a process reads the operating system's roots once.
#[tokio::test]
async fn the_roots_of_the_operating_system() {
    if let Ok(url) = std::env::var("MINTID_TEST_SYSTEM_ROOTS") {
        return check(&url, &TlsOptions::default(), Ok(true)).await;
    }
    let server = server();
    let root = server.cluster.write("system.crt", &server.authority.pem);
    for query in ["sslmode=verify-full", "sslmode=verify-full&sslrootcert=system", "sslrootcert=system"] {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tls::the_roots_of_the_operating_system"])
            .env("MINTID_TEST_SYSTEM_ROOTS", server.url("me", "localhost", &format!("postgres?{query}")))
            .env("SSL_CERT_FILE", &root)
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && shown.contains("1 passed"), "{query}: {shown}");
    }
}

#[tokio::test]
async fn prefer_does_without_where_the_server_wants_it_so() {
    let server = server();
    let connection = open(&server.url("plain_only", "localhost", "postgres")).await.unwrap();
    assert!(!encrypted(&connection).await);
    let connection = open(&server.url("tls_only", "localhost", "postgres")).await.unwrap();
    assert!(encrypted(&connection).await);
    // The first answer is the one that tells why.
    let error = open(&server.url("rejected", "localhost", "postgres")).await.unwrap_err();
    assert!(error.message().contains("SSL encryption"), "{error}");
}

#[tokio::test]
async fn certificates_of_users() {
    let server = server();
    let Signed { cert, key } = server.authority.client("certified");
    let url = format!("postgres://certified@localhost:{}/postgres?sslmode=require", server.cluster.port);
    let (cert_file, key_file) = (server.cluster.write("me.crt", &cert), server.cluster.write("me.key", &key));
    let connection = open(&format!("{url}&sslcert={cert_file}&sslkey={key_file}")).await.unwrap();
    assert_eq!(ask(&connection, "select current_user::text").await, "certified");

    let with = |cert: &str, key: &str| {
        let mut options = TlsOptions::default();
        (options.cert, options.key) = (Some(cert.to_owned()), Some(key.to_owned()));
        options
    };
    let connection = open_with(&url, &with(&cert, &key)).await.unwrap();
    assert_eq!(ask(&connection, "select current_user::text").await, "certified");

    expect(&open(&url).await.unwrap_err(), Retry::Never, Some("28000"), "the server wants a certificate");
    let other = server.authority.client("other");
    let error = open_with(&url, &with(&other.cert, &other.key)).await.unwrap_err();
    expect(&error, Retry::Never, Some("28000"), "the certificate's common name is not the user's");
    let strange = server.stranger.client("certified");
    let error = open_with(&url, &with(&strange.cert, &strange.key)).await.unwrap_err();
    expect(&error, Retry::Never, None, "the server does not accept our certificate");

    for (cert, key, expected) in [
        (cert.as_str(), other.key.as_str(), "tls.key: expected the key of the certificate beside it"),
        (&cert, "nonsense", "tls.key: expected a private key in PEM"),
        (&cert, "-----BEGIN ENCRYPTED PRIVATE KEY-----", "tls.key: expected a private key without a passphrase"),
        ("nonsense", &key, "tls.cert: expected certificates in PEM"),
    ] {
        let error = Settings::parse(&url, &with(cert, key)).unwrap_err();
        assert_eq!((error.code(), error.fields().option), (Code::Config, Some("tls")), "{error}");
        assert!(error.message().starts_with(expected), "{error}");
    }
    let error = open(&format!("{url}&sslcert={cert_file}&sslkey=/nowhere/me.key")).await.unwrap_err();
    assert_eq!((error.code(), error.retry(), error.fields().option), (Code::Config, Retry::Never, Some("coordinator")));
    assert!(error.message().contains("sslkey: \"/nowhere/me.key\": cannot be read"), "{error}");
}

#[tokio::test]
async fn channel_binding() {
    let server = server();
    for query in ["channel_binding=require", "channel_binding=require&sslmode=require", "channel_binding=disable"] {
        let connection = open(&server.url("me", "localhost", &format!("postgres?{query}"))).await.unwrap();
        assert!(encrypted(&connection).await, "{query}");
    }
    let advice = "channel_binding=require needs TLS and scram-sha-256";
    for (user, host) in [("md5", "localhost"), ("me", &server.cluster.socket_folder().replace('/', "%2F"))] {
        let error = open(&server.url(user, host, "postgres?channel_binding=require")).await.unwrap_err();
        expect(&error, Retry::Never, None, advice);
        open(&server.url(user, host, "postgres?channel_binding=prefer")).await.unwrap();
    }
    // Without it, it would come in without TLS.
    let error = open(&server.url("plain_only", "localhost", "postgres?channel_binding=require")).await.unwrap_err();
    expect(&error, Retry::Never, Some("28000"), "pg_hba.conf");
}
