//! The client's side of the MySQL protocol, as far as a registry needs it: log in, ask, read the answer, leave. Sockets
//! and TLS are given.
//!
//! Statements go as text (`COM_QUERY`), one round trip each. Nothing is compressed, prepared, or read from a file of ours
//! for the server.

mod answer;
mod eddsa;
mod greeting;
mod login;
mod packets;
mod rsa;
mod scramble;
mod wire;

use std::io;

pub(super) use self::answer::ask;
pub use self::answer::{Answer, Row};
pub(super) use self::greeting::{Greeting, greet, secure};
pub(super) use self::login::{Account, Channel, log_in};
pub(super) use self::packets::Packets;

/// What went wrong, before anybody has judged it.
#[derive(Debug)]
pub(super) enum Fault {
    /// On the way.
    Io(io::Error),
    /// The server's own words: its number for it, the SQLSTATE where it gave one, and the text.
    Server(u16, String, String),
    /// It does not speak the protocol, or not as agreed.
    Strange,
    /// What it wants, we do not have, or do not give away. With a hint.
    Refused(String, &'static str),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What the client and the server can do, in one set of bits.
mod able {
    pub(super) const LONG_PASSWORD: u64 = 1;
    /// Rows that were found count as affected, changed or not.
    pub(super) const FOUND_ROWS: u64 = 1 << 1;
    pub(super) const LONG_FLAG: u64 = 1 << 2;
    pub(super) const CONNECT_WITH_DB: u64 = 1 << 3;
    pub(super) const PROTOCOL_41: u64 = 1 << 9;
    pub(super) const SSL: u64 = 1 << 11;
    pub(super) const TRANSACTIONS: u64 = 1 << 13;
    pub(super) const SECURE_CONNECTION: u64 = 1 << 15;
    pub(super) const PLUGIN_AUTH: u64 = 1 << 19;
    pub(super) const CONNECT_ATTRS: u64 = 1 << 20;
    pub(super) const PLUGIN_AUTH_LENENC: u64 = 1 << 21;
}
