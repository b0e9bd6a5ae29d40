//! What a TLS handshake needs to begin.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;

use super::Verify;

/// Makes the TLS part of connections.
#[derive(Clone)]
pub(in crate::coordinator) struct Connector {
    config: Arc<ClientConfig>,
    servername: Option<String>,
    verify: Verify,
}

impl Connector {
    pub(super) fn new(config: ClientConfig, servername: Option<String>, verify: Verify) -> Self {
        Self { config: Arc::new(config), servername, verify }
    }

    /// What the certificate of `host` must name.
    pub(in crate::coordinator) fn name(&self, host: &str) -> io::Result<ServerName<'static>> {
        let host = self.servername.as_deref().unwrap_or(host);
        match ServerName::try_from(host.to_owned()) {
            Ok(name) => Ok(name),
            // Compared with nothing, and not told to the server. A Unix socket has no name, and no TLS.
            Err(_) if self.verify != Verify::Full || host.is_empty() => Ok(IpAddr::from(Ipv4Addr::UNSPECIFIED).into()),
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidInput, error)),
        }
    }

    /// The rest of it.
    pub(in crate::coordinator) fn connector(&self) -> TlsConnector {
        TlsConnector::from(Arc::clone(&self.config))
    }
}
