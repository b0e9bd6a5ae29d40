//! Sockets, with TLS and without.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use crate::coordinator::redis::settings::Host;
use crate::coordinator::tls::Connector;

/// A server that expects no TLS waits for more of the client's first words.
const HANDSHAKE: Duration = Duration::from_secs(3);

/// Where to knock.
pub(super) enum Address {
    Net(SocketAddr),
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no such sockets"))]
    Path(String),
}

/// Anything that bytes go through.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

pub(super) async fn addresses(host: &Host) -> io::Result<Vec<Address>> {
    match host {
        Host::Socket(path) => Ok(vec![Address::Path(path.clone())]),
        Host::Address(address, port) => Ok(vec![Address::Net((*address, *port).into())]),
        Host::Name(name, port) => Ok(lookup_host((name.as_str(), *port)).await?.map(Address::Net).collect()),
    }
}

pub(super) async fn open(host: &Host, address: &Address, tls: Option<&Connector>) -> io::Result<Box<dyn Stream>> {
    let stream = match address {
        Address::Net(address) => tcp(*address).await?,
        #[cfg(unix)]
        Address::Path(path) => return Ok(Box::new(tokio::net::UnixStream::connect(path).await?)),
        #[cfg(not(unix))]
        Address::Path(_) => return Err(io::ErrorKind::Unsupported.into()),
    };
    let Some(tls) = tls else { return Ok(Box::new(stream)) };
    let handshake = tls.connector().connect(tls.name(&host.name())?, stream);
    match timeout(HANDSHAKE, handshake).await {
        Ok(shaken) => Ok(Box::new(shaken?)),
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, SILENT)),
    }
}

/// What is said of a server that does not answer a handshake.
pub(super) const SILENT: &str = "no answer to the TLS handshake";

/// Asks a silent peer whether it is there: a connection may be idle for long.
async fn tcp(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let keepalive = TcpKeepalive::new().with_time(Duration::from_secs(15)).with_interval(Duration::from_secs(5));
    let socket = SockRef::from(&stream);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(Duration::from_secs(30)))?;
    Ok(stream)
}
