//! Sockets, with TLS and without.

use std::io;
use std::time::Duration;

use tokio::time::timeout;

use crate::coordinator::socket::{self, Address, Host, Stream};
use crate::coordinator::tls::Connector;

/// A server that expects no TLS waits for more of the client's first words.
const HANDSHAKE: Duration = Duration::from_secs(3);

pub(super) async fn open(host: &Host, address: &Address, tls: Option<&Connector>) -> io::Result<Box<dyn Stream>> {
    let stream = socket::open(address).await?;
    let Some(tls) = tls.filter(|_| matches!(address, Address::Net(_))) else { return Ok(stream) };
    let handshake = tls.connector().connect(tls.name(&host.name())?, stream);
    match timeout(HANDSHAKE, handshake).await {
        Ok(shaken) => Ok(Box::new(shaken?)),
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, SILENT)),
    }
}

/// What is said of a server that does not answer a handshake.
pub(super) const SILENT: &str = "no answer to the TLS handshake";
