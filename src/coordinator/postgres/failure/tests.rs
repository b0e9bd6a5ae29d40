//! Which codes and words are tried again, and what is advised. What servers really say is in `tests/postgres_connect.rs`.

use std::sync::Arc;

use rustls::{AlertDescription, CertificateError, Error as TlsError, OtherError};

use super::*;

#[test]
fn what_may_be_otherwise_soon_is_tried_again() {
    let soon = [
        "08000 08001 08003 08004 08006 08P01 25006 25P02 40001 40P01 42P01 42P06 42P07 42710 53000 53100 53200 53300 53400",
        "55000 55006 55P03 57014 57P01 57P02 57P03 57P04 57P05 58000 58030 XX000 XX001",
    ];
    let never = ["0A000 22023 23505 23514 28000 28P01 3D000 3F000 42501 42601 42703 42883 54000 P0001"];
    for code in soon.iter().flat_map(|codes| codes.split(' ')) {
        assert!(may_pass(code, "something", None), "{code}");
    }
    for code in never.iter().flat_map(|codes| codes.split(' ')) {
        assert!(!may_pass(code, "something", Some("public")), "{code}");
    }
    // Two that create the same table in the same moment.
    assert!(may_pass("23505", "duplicate key value violates unique constraint", Some("pg_catalog")));
    assert!(may_pass("XX000", "tuple concurrently updated", None));
}

#[test]
fn a_poolers_own_words_are_told_apart() {
    for (message, passes, advice) in [
        ("no such database: nix", false, "no such database"),
        // pgbouncer 1.18 repeats the server in its own code.
        ("database \"nix\" does not exist", false, "create the database"),
        ("password authentication failed for user \"me\"", false, "password is wrong"),
        ("no pg_hba.conf entry for host \"::1\"", false, "lets the pooler not in"),
        ("no such user", false, "no such user"),
        ("password authentication failed", false, "password is wrong"),
        ("SASL authentication failed", false, "password is wrong"),
        ("unsupported startup parameter: options", false, "ignore_startup_parameters"),
        ("SSL required", false, "sslmode=require"),
        ("Tenant or user not found", false, "user.project"),
        ("no more connections allowed (max_client_conn)", true, "max_client_conn"),
        ("server login has been failing, try again later (server_login_retry)", true, "its log"),
        ("query_wait_timeout", true, "no connection to the server in time"),
    ] {
        for code in ["08P01", "XX000"] {
            assert_eq!(may_pass(code, message, None), passes, "{message}");
            assert!(hint::of_server(code, message).is_some_and(|hint| hint.contains(advice)), "{message}");
        }
    }
    assert_eq!(hint::of_server("08P01", "something new"), None);
}

#[test]
fn advice_fits_what_was_refused() {
    for (code, message, advice) in [
        ("28P01", "password authentication failed for user \"x\"", "percent-encoded"),
        (
            "28000",
            "no pg_hba.conf entry for host \"::1\", user \"x\", database \"y\", no encryption",
            "sslmode=require",
        ),
        ("28000", "no pg_hba.conf entry for host \"::1\", user \"x\", database \"y\", SSL off", "sslmode=require"),
        ("28000", "no pg_hba.conf entry for host \"::1\", user \"x\", database \"y\", SSL encryption", "pg_hba.conf"),
        ("28000", "connection requires a valid client certificate", "sslcert and sslkey"),
        ("28000", "certificate authentication failed for user \"x\"", "common name"),
        ("28000", "role \"x\" is not permitted to log in", "may not log in"),
        ("3D000", "database \"x\" does not exist", "create the database"),
        ("42501", "permission denied for schema public", "npx mintid setup"),
        ("25006", "cannot execute UPDATE in a read-only transaction", "primary"),
    ] {
        assert!(hint::of_server(code, message).is_some_and(|hint| hint.contains(advice)), "{code} {message}");
    }
    assert_eq!(hint::of_server("40P01", "deadlock detected"), None);
}

#[test]
fn trouble_with_certificates_is_final_and_named() {
    let other = |text: &str| CertificateError::Other(OtherError(Arc::new(io::Error::other(text.to_owned()))));
    for (error, advice) in [
        (CertificateError::UnknownIssuer, "sslrootcert or tls.ca"),
        (CertificateError::NotValidForName, "another host's"),
        (CertificateError::Expired, "expired"),
        (CertificateError::NotValidYet, "clock"),
        (other("CaUsedAsEndEntity"), "self-signed"),
        (other("UnsupportedCertVersion"), "version 1"),
        (CertificateError::BadEncoding, "cannot be verified"),
    ] {
        let (retry, hint) = judge_io(&io::Error::new(io::ErrorKind::InvalidData, TlsError::InvalidCertificate(error)));
        assert!(retry == Retry::Never && hint.as_ref().is_some_and(|hint| hint.contains(advice)), "{hint:?}");
    }
    let alert = TlsError::AlertReceived(AlertDescription::UnknownCA);
    let (retry, hint) = judge_io(&io::Error::new(io::ErrorKind::InvalidData, alert));
    assert!(retry == Retry::Never && hint.is_some_and(|hint| hint.contains("ssl_ca_file")));
    assert_eq!(judge_io(&io::Error::from(io::ErrorKind::ConnectionReset)), (Retry::Soon, None));
}

#[test]
fn nothing_that_a_server_says_breaks_a_line() {
    let error = made("postgres://me@db:5432/app", &format!("a\nb\u{7}{}", "x".repeat(1000)), Some("XX000"), None);
    assert!(error.message().starts_with("postgres://me@db:5432/app: a b x"));
    assert!(error.message().chars().count() < 400);
    let fields = error.fields();
    assert_eq!(
        (fields.coordinator.as_deref(), fields.server_code.as_deref()),
        (Some("postgres://me@db:5432/app"), Some("XX000"))
    );
}
