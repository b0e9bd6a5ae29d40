//! What runs scripts: a connection of our own, or one that is lent to us.

use super::Settings;
use super::connect::connect;
use super::connection::{Argument, Connection, Script};
use crate::coordinator::beside::Beside;
use crate::coordinator::keeper::Ends;
use crate::error::Error;
use ::redis::Value;

/// A server, and how to get in.
pub trait Server: Send + Sync + 'static {
    /// An open connection, logged in.
    type Connection: Session;

    /// Whether one command comes over the same connection as the one before, so that it can be waited for what the last
    /// one wrote.
    const CAN_WAIT: bool;

    /// The address for messages, without credentials.
    fn address(&self) -> String;

    /// Who else leases from its registries.
    #[expect(private_interfaces, reason = "nobody else has servers")]
    fn beside(&self) -> Beside;

    /// How many replicas must have what was written before it is believed.
    fn replicas(&self) -> u32;

    /// Opens a connection to where `key` is.
    fn connect(&self, key: &str) -> impl Future<Output = Result<Self::Connection, Error>> + Send;
}

/// What runs scripts.
pub trait Session: Ends {
    /// Runs a script with the keys that it declares.
    fn eval(
        &self,
        script: &Script,
        keys: &[&str],
        arguments: &[Argument<'_>],
    ) -> impl Future<Output = Result<Value, Error>> + Send;

    /// Runs one command that a script may run, too.
    fn command(&self, parts: &[&[u8]]) -> impl Future<Output = Result<Value, Error>> + Send;
}

impl Server for Settings {
    type Connection = Connection;

    const CAN_WAIT: bool = true;

    fn address(&self) -> String {
        Settings::address(self)
    }

    #[expect(private_interfaces, reason = "nobody else has servers")]
    fn beside(&self) -> Beside {
        self.beside
    }

    fn replicas(&self) -> u32 {
        self.replicas
    }

    async fn connect(&self, key: &str) -> Result<Connection, Error> {
        connect(self, key).await
    }
}

impl Session for Connection {
    async fn eval(&self, script: &Script, keys: &[&str], arguments: &[Argument<'_>]) -> Result<Value, Error> {
        Connection::eval(self, script, keys, arguments).await
    }

    async fn command(&self, parts: &[&[u8]]) -> Result<Value, Error> {
        Connection::command(self, parts).await
    }
}
