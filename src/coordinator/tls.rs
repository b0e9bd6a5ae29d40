//! TLS to a server: what is verified of its certificate, and what is shown of ours. One provider, ring, passed
//! explicitly: no other library's default is used or set.

mod certificate;
mod connector;
mod hint;
mod source;
mod verifier;

use std::fmt;
use std::sync::{Arc, OnceLock};

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

#[cfg(feature = "postgres")]
pub(super) use self::certificate::end_point;
#[cfg(feature = "mysql")]
pub(super) use self::certificate::rsa_key;
pub(super) use self::connector::Connector;
pub(super) use self::hint::{Words, trouble};
pub(super) use self::source::Source;
use self::verifier::Verifier;
use crate::error::{Code, Error};

/// The option `tls`: PEM texts, and what of the server's certificate is verified. Not shown in any output.
#[derive(Clone, Default)]
pub struct TlsOptions {
    /// Root certificates, instead of the operating system's.
    pub ca: Vec<String>,
    /// Our own certificate, and those between it and its root.
    pub cert: Option<String>,
    /// Its key.
    pub key: Option<String>,
    /// The name that the server's certificate must have, if it is not the host's.
    pub servername: Option<String>,
    /// `true`: chain and name are verified. `false`: nothing is.
    pub reject_unauthorized: Option<bool>,
}

impl TlsOptions {
    /// Whether something was given that makes no sense without TLS.
    pub(super) fn ask_for_tls(&self) -> bool {
        !self.ca.is_empty()
            || self.cert.is_some()
            || self.key.is_some()
            || self.servername.is_some()
            || self.reject_unauthorized == Some(true)
    }
}

impl fmt::Debug for TlsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsOptions")
            .field("ca", &self.ca.len())
            .field("cert", &self.cert.is_some())
            .field("key", &self.key.is_some())
            .field("servername", &self.servername)
            .field("reject_unauthorized", &self.reject_unauthorized)
            .finish()
    }
}

impl Drop for TlsOptions {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.key);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encrypt {
    Never,
    #[cfg(any(feature = "mysql", feature = "postgres"))]
    IfOffered,
    Always,
}

/// What of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verify {
    Nothing,
    /// That one of the roots has signed it.
    Chain,
    /// And that it names the host.
    Full,
}

/// Where the roots are.
#[derive(Debug, Clone)]
pub(super) enum Roots {
    System,
    Given(Vec<Source>),
}

/// Our own certificate.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) cert: Source,
    pub(super) key: Source,
}

/// All that is known of TLS before a connection.
#[derive(Debug, Clone)]
pub(super) struct Tls {
    pub(super) encrypt: Encrypt,
    pub(super) verify: Verify,
    pub(super) roots: Roots,
    pub(super) identity: Option<Identity>,
    pub(super) servername: Option<String>,
    /// Whether the server is told its name.
    pub(super) sni: bool,
    /// The protocol under it, where the server wants to hear of that (ALPN).
    pub(super) protocol: Option<&'static str>,
    /// TLS 1.3 or nothing.
    pub(super) only_newest: bool,
}

impl Tls {
    /// No TLS at all.
    pub(super) fn off() -> Self {
        Self {
            encrypt: Encrypt::Never,
            verify: Verify::Nothing,
            roots: Roots::System,
            identity: None,
            servername: None,
            sni: true,
            protocol: None,
            only_newest: false,
        }
    }

    /// Whether it is never used.
    pub(super) fn is_off(&self) -> bool {
        self.encrypt == Encrypt::Never
    }

    /// Whether something may have to be read from disk.
    pub(super) fn needs_files(&self) -> bool {
        self.verify != Verify::Nothing || self.identity.is_some()
    }

    /// Whether what was given as text can be used. Files are read when a connection is made.
    pub(super) fn check(&self) -> Result<(), Error> {
        if let Roots::Given(sources) = &self.roots {
            sources
                .iter()
                .filter(|source| source.is_inline())
                .try_for_each(|source| source.certificates().map(drop))?;
        }
        match &self.identity {
            Some(Identity { cert, key }) if cert.is_inline() && key.is_inline() => self.config().map(drop),
            _ => Ok(()),
        }
    }

    /// Reads the files: what is renewed on disk is used by the next connection. Blocks.
    pub(super) fn connector(&self) -> Result<Connector, Error> {
        Ok(Connector::new(self.config()?, self.servername.clone(), self.verify))
    }

    fn config(&self) -> Result<ClientConfig, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = self.verifier(&provider)?;
        let versions = if self.only_newest { &[&rustls::version::TLS13][..] } else { rustls::ALL_VERSIONS };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .map_err(|error| Error::config("tls", format!("tls: {error}")))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some(Identity { cert, key }) => builder
                .with_client_auth_cert(cert.certificates()?, key.key()?)
                .map_err(|error| key.wrong(&format!("expected the key of the certificate beside it ({error})")))?,
        };
        config.enable_sni = self.sni;
        // A configuration is used once.
        config.resumption = Resumption::disabled();
        config.alpn_protocols = self.protocol.map(|name| name.as_bytes().to_vec()).into_iter().collect();
        Ok(config)
    }

    fn verifier(&self, provider: &CryptoProvider) -> Result<Verifier, Error> {
        let algorithms = provider.signature_verification_algorithms;
        let (roots, given) = match &self.roots {
            _ if self.verify == Verify::Nothing => (Arc::new(RootCertStore::empty()), Vec::new()),
            Roots::System => (system_roots()?, Vec::new()),
            Roots::Given(sources) => given_roots(sources)?,
        };
        Ok(Verifier { verify: self.verify, roots, given, algorithms })
    }
}

fn given_roots(sources: &[Source]) -> Result<(Arc<RootCertStore>, Vec<CertificateDer<'static>>), Error> {
    let (mut roots, mut given) = (RootCertStore::empty(), Vec::new());
    for source in sources {
        for certificate in source.certificates()? {
            roots.add(certificate.clone()).map_err(|error| source.wrong(&format!("unusable certificate ({error})")))?;
            given.push(certificate);
        }
    }
    Ok((Arc::new(roots), given))
}

/// The operating system's roots, read once: there are many.
fn system_roots() -> Result<Arc<RootCertStore>, Error> {
    static ROOTS: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    if let Some(roots) = ROOTS.get() {
        return Ok(Arc::clone(roots));
    }
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
        let text = format!("the operating system has no root certificates to verify the server with{why}");
        let hint = "install them (Debian, Alpine: the package ca-certificates), or give the server's root as tls.ca";
        return Err(Error::new(Code::Coordinator, text).with(|fields| fields.hint = Some(hint.to_owned())));
    }
    Ok(Arc::clone(ROOTS.get_or_init(|| Arc::new(roots))))
}
