//! Certificates and keys, as PEM texts or as files.

use std::fmt;
use std::path::PathBuf;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use zeroize::Zeroizing;

use crate::error::{Error, shown};

/// Where something in PEM is, and what the user calls it.
#[derive(Clone)]
pub(in crate::coordinator) struct Source {
    name: &'static str,
    at: At,
}

#[derive(Clone)]
enum At {
    Text(Zeroizing<String>),
    File(PathBuf),
}

impl Source {
    /// A text of the option `tls`.
    pub(in crate::coordinator) fn pem(name: &'static str, text: &str) -> Self {
        Self { name, at: At::Text(Zeroizing::new(text.to_owned())) }
    }

    /// A file that a parameter names.
    pub(in crate::coordinator) fn file(name: &'static str, path: &str) -> Self {
        Self { name, at: At::File(PathBuf::from(path)) }
    }

    pub(super) fn is_inline(&self) -> bool {
        matches!(self.at, At::Text(_))
    }

    /// At least one.
    pub(super) fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, Error> {
        let pem = self.read()?;
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
        match found {
            Ok(found) if !found.is_empty() => Ok(found),
            _ => Err(self.wrong("expected certificates in PEM (-----BEGIN CERTIFICATE-----)")),
        }
    }

    pub(super) fn key(&self) -> Result<PrivateKeyDer<'static>, Error> {
        let pem = self.read()?;
        if pem.contains("ENCRYPTED") {
            return Err(self.wrong("expected a private key without a passphrase, found an encrypted one"));
        }
        PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| self.wrong("expected a private key in PEM (-----BEGIN PRIVATE KEY-----)"))
    }

    /// `CONFIG` about this, under the name that the user has for it.
    pub(in crate::coordinator) fn wrong(&self, what: &str) -> Error {
        match &self.at {
            At::Text(_) => Error::config("tls", format!("{}: {what}", self.name)),
            At::File(path) => {
                let path = shown(&path.to_string_lossy());
                Error::config("coordinator", format!("coordinator: {}: {path}: {what}", self.name))
            }
        }
    }

    fn read(&self) -> Result<Zeroizing<String>, Error> {
        match &self.at {
            At::Text(text) => Ok(text.clone()),
            At::File(path) => match std::fs::read_to_string(path) {
                Ok(text) => Ok(Zeroizing::new(text)),
                Err(error) => Err(self.wrong(&format!("cannot be read ({error})"))),
            },
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            At::Text(_) => write!(f, "{}", self.name),
            At::File(path) => write!(f, "{} {}", self.name, path.display()),
        }
    }
}
