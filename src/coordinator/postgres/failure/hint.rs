//! What to do about it.

use rustls::{AlertDescription, CertificateError, Error as TlsError};

use crate::error::Retry;

/// About what a server or a pooler said. Its message decides only where the code leaves it open.
pub(super) fn of_server(code: &str, message: &str) -> Option<&'static str> {
    let has = |part: &str| message.contains(part);
    Some(match code {
        "28P01" => "user or password is wrong; '/ @ # : ? %' in a password are best percent-encoded",
        "28000" if has("no encryption") || has("SSL off") => "the server wants TLS: sslmode=require or verify-full",
        "28000" if has("client certificate") => {
            "the server wants a certificate: sslcert and sslkey, or tls.cert and tls.key"
        }
        "28000" if has("certificate authentication failed") => "the certificate's common name is not the user's",
        "28000" if has("pg_hba.conf") => "the server's pg_hba.conf lets this user, database and address not in",
        "28000" => "this role may not log in, or not from here",
        "3D000" => "create the database, or name another one at the end of the URL",
        "3F000" => "create the schema, or name another one",
        "42501" => "grant the role that right, or let one that has it run: npx mintid setup",
        "53300" => "raise max_connections or the role's limit, or put a pooler in between",
        "25006" => "it is a replica, or the role's transactions are read-only; the primary is needed",
        "57P03" => "the server is starting up or shutting down",
        "42601" | "42883" | "42704" => "PostgreSQL 12 or newer is needed",
        "08P01" | "XX000" => of_pooler(message)?,
        _ => return None,
    })
}

/// Whether a pooler's words mean that somebody must change something first.
pub(super) fn is_final(message: &str) -> bool {
    FINAL.iter().any(|(part, _)| message.contains(part))
}

/// What pgbouncer, Supavisor and Neon's proxy say of themselves, all with one code.
const FINAL: &[(&str, &str)] = &[
    ("no such database", "the pooler has no such database"),
    ("no such user", "the pooler has no such user"),
    // What the server said to the pooler.
    ("database \"", "create the database, or name another one at the end of the URL"),
    ("pg_hba.conf", "the server's pg_hba.conf lets the pooler not in"),
    (
        "password authentication failed",
        "user or password is wrong; '/ @ # : ? %' in a password are best percent-encoded",
    ),
    ("SASL authentication failed", "user or password is wrong; '/ @ # : ? %' in a password are best percent-encoded"),
    ("auth failed", "user or password is wrong; '/ @ # : ? %' in a password are best percent-encoded"),
    ("not allowed", "the pooler lets this user not in"),
    ("SSL required", "the pooler wants TLS: sslmode=require or verify-full"),
    ("unsupported startup parameter", "name it in the pooler's ignore_startup_parameters, or leave it out of the URL"),
    ("Tenant or user not found", "the pooler knows neither tenant nor user; is the user spelled user.project?"),
    (
        "ndpoint ID is not specified",
        "the host's name must reach the proxy: leave sslsni on, or use options=endpoint%3D…",
    ),
];

fn of_pooler(message: &str) -> Option<&'static str> {
    let passing: &[(&str, &str)] = &[
        ("no more connections allowed", "raise the pooler's max_client_conn"),
        ("server login has been failing", "the pooler itself cannot log in at the server; its log says why"),
        ("query_wait_timeout", "the pooler got no connection to the server in time; its log says why"),
    ];
    FINAL.iter().chain(passing).find(|(part, _)| message.contains(part)).map(|(_, hint)| *hint)
}

/// About TLS. What is wrong with a certificate or a version stays wrong; the rest is trouble on the way.
pub(super) fn of_tls(error: &TlsError) -> (Retry, Option<String>) {
    let hint = match error {
        TlsError::InvalidCertificate(certificate) => of_certificate(certificate),
        TlsError::AlertReceived(
            AlertDescription::InternalError | AlertDescription::UserCanceled | AlertDescription::CloseNotify,
        ) => return (Retry::Soon, None),
        TlsError::AlertReceived(alert) => of_alert(*alert),
        TlsError::PeerIncompatible(_) => "the server offers neither TLS 1.2 nor 1.3, or no cipher that is safe",
        _ => return (Retry::Soon, None),
    };
    (Retry::Never, Some(hint.to_owned()))
}

fn of_certificate(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::UnknownIssuer => {
            "none of the trusted roots has signed the server's certificate: give its root as sslrootcert or tls.ca"
        }
        CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
            "the server's certificate has no subjectAltName: make one that names the host, or use sslmode=verify-ca"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the server's certificate is another host's: connect by a name it has, give that as tls.servername, or use \
             sslmode=verify-ca"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate, or one of its issuers', has expired: renew it"
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet: is this machine's clock right?"
        }
        CertificateError::Other(other) if other.to_string().starts_with("UnsupportedCertVersion") => {
            "the server's certificate is of X.509 version 1: make one of version 3, with subjectAltName"
        }
        CertificateError::Other(other) if other.to_string() == "CaUsedAsEndEntity" => {
            "the server shows a self-signed certificate: give exactly that as sslrootcert or tls.ca"
        }
        CertificateError::UnsupportedSignatureAlgorithmContext { .. } => {
            "the server's certificate is signed in a way that is not known here: make one with ECDSA, or RSA and SHA-256"
        }
        _ => "the server's certificate cannot be verified",
    }
}

fn of_alert(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::CertificateRequired => {
            "the server wants a certificate: sslcert and sslkey, or tls.cert and tls.key"
        }
        AlertDescription::UnknownCA | AlertDescription::BadCertificate | AlertDescription::CertificateUnknown => {
            "the server does not accept our certificate: is it signed by the root that the server has as ssl_ca_file?"
        }
        AlertDescription::CertificateExpired => "our certificate has expired: renew it",
        _ => "the server ended the TLS handshake; its log says why",
    }
}
