//! Where a server listens, and the way there: names, addresses, Unix sockets.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};

use super::address::Plain;

/// Where one server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::coordinator) enum Host {
    /// A name that is to be looked up.
    Name(String, u16),
    Address(IpAddr, u16),
    /// A Unix socket.
    Socket(String),
}

impl Host {
    /// Of a name or an address in any spelling.
    pub(in crate::coordinator) fn new(name: &str, port: u16) -> Self {
        let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        match name.parse() {
            Ok(address) => Self::Address(address, port),
            Err(_) if name.is_empty() => Self::Name("localhost".to_owned(), port),
            Err(_) => Self::Name(name.to_lowercase(), port),
        }
    }

    /// What its certificate must name.
    pub(in crate::coordinator) fn name(&self) -> String {
        match self {
            Self::Name(name, _) | Self::Socket(name) => name.clone(),
            Self::Address(address, _) => address.to_string(),
        }
    }

    /// Where to knock, in the order in which to try.
    pub(in crate::coordinator) async fn addresses(&self) -> io::Result<Vec<Address>> {
        match self {
            Self::Socket(path) => Ok(vec![Address::Path(path.clone())]),
            Self::Address(address, port) => Ok(vec![Address::Net((*address, *port).into())]),
            Self::Name(name, port) => Ok(lookup_host((name.as_str(), *port)).await?.map(Address::Net).collect()),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name, port) => write!(f, "{}:{port}", Plain(name)),
            Self::Address(IpAddr::V4(address), port) => write!(f, "{address}:{port}"),
            Self::Address(IpAddr::V6(address), port) => write!(f, "[{address}]:{port}"),
            Self::Socket(path) => path.split('/').skip(1).try_for_each(|part| write!(f, "/{}", Plain(part))),
        }
    }
}

/// One way to a host.
pub(in crate::coordinator) enum Address {
    Net(SocketAddr),
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no such sockets"))]
    Path(String),
}

/// Anything that bytes go through.
pub(in crate::coordinator) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Goes there.
pub(in crate::coordinator) async fn open(address: &Address) -> io::Result<Box<dyn Stream>> {
    match address {
        Address::Net(address) => Ok(Box::new(tcp(*address).await?)),
        #[cfg(unix)]
        Address::Path(path) => Ok(Box::new(tokio::net::UnixStream::connect(path).await?)),
        #[cfg(not(unix))]
        Address::Path(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}

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
