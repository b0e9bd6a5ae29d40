//! What TLS said, and what to do about it.

use rustls::{AlertDescription, CertificateError, Error as TlsError};

use crate::error::Retry;

/// What things are called where the user finds them.
pub(in crate::coordinator) struct Words {
    /// A root certificate.
    pub(in crate::coordinator) root: &'static str,
    /// Our certificate and its key.
    pub(in crate::coordinator) identity: &'static str,
    /// How to verify the chain alone.
    pub(in crate::coordinator) chain_only: &'static str,
    /// The root that the server knows us by.
    pub(in crate::coordinator) servers_root: &'static str,
}

/// Whether to try again, and what to do. What is wrong with a certificate or a version stays wrong; the rest is trouble
/// on the way.
pub(in crate::coordinator) fn trouble(error: &TlsError, words: &Words) -> (Retry, Option<String>) {
    let hint = match error {
        TlsError::InvalidCertificate(certificate) => of_certificate(certificate, words),
        TlsError::AlertReceived(
            AlertDescription::InternalError | AlertDescription::UserCanceled | AlertDescription::CloseNotify,
        ) => return (Retry::Soon, None),
        TlsError::AlertReceived(alert) => of_alert(*alert, words),
        TlsError::PeerIncompatible(_) => {
            "the server offers neither TLS 1.2 nor 1.3, or no cipher that is safe".to_owned()
        }
        _ => return (Retry::Soon, None),
    };
    (Retry::Never, Some(hint))
}

fn of_certificate(error: &CertificateError, words: &Words) -> String {
    let Words { root, chain_only, .. } = words;
    match error {
        CertificateError::UnknownIssuer => {
            return format!("none of the trusted roots has signed the server's certificate: give its root as {root}");
        }
        CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
            let what = "the server's certificate has no subjectAltName";
            return format!("{what}: make one that names the host, or use {chain_only}");
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            let what = "the server's certificate is another host's: connect by a name it has";
            return format!("{what}, give that as tls.servername, or use {chain_only}");
        }
        CertificateError::Other(other) if other.to_string() == "CaUsedAsEndEntity" => {
            return format!("the server shows a self-signed certificate: give exactly that as {root}");
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
        CertificateError::UnsupportedSignatureAlgorithmContext { .. } => {
            "the server's certificate is signed in a way that is not known here: make one with ECDSA, or RSA and SHA-256"
        }
        _ => "the server's certificate cannot be verified",
    }
    .to_owned()
}

fn of_alert(alert: AlertDescription, words: &Words) -> String {
    let Words { identity, servers_root, .. } = words;
    match alert {
        AlertDescription::CertificateRequired => format!("the server wants a certificate: {identity}"),
        AlertDescription::UnknownCA | AlertDescription::BadCertificate | AlertDescription::CertificateUnknown => {
            let what = "the server does not accept our certificate";
            format!("{what}: is it signed by the root that the server has as {servers_root}?")
        }
        AlertDescription::CertificateExpired => "our certificate has expired: renew it".to_owned(),
        _ => "the server ended the TLS handshake; its log says why".to_owned(),
    }
}
