//! What runs scripts: a connection of our own, or one that is lent to us.

use std::time::Duration;

use super::Settings;
use super::connect::connect;
use super::connection::{Argument, Connection, Script};
use super::settings::Topology;
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

    /// For how long after a failover the former master may go on granting leases of `ttl`, as far as there can be one.
    fn former_master_goes_on(&self, ttl: Duration) -> Duration;

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

    fn former_master_goes_on(&self, ttl: Duration) -> Duration {
        /// Sentinel tells a master that lost its place after some ten seconds; a node of a cluster finds out itself after
        /// its node timeout, which is 15 s by default.
        const TOLD_WITHIN: Duration = Duration::from_secs(20);
        match self.topology {
            Topology::Single => Duration::ZERO,
            Topology::Sentinel(_) | Topology::Cluster => TOLD_WITHIN.min(ttl / 5),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::tls::TlsOptions;

    #[test]
    fn where_a_failover_can_have_two_masters_for_a_while_newcomers_wait_for_the_former_one_too() {
        let goes_on = |url: &str, ttl: u64| {
            let settings = Settings::parse(url, &TlsOptions::default()).unwrap();
            settings.former_master_goes_on(Duration::from_secs(ttl)).as_millis()
        };
        assert_eq!(goes_on("redis://host", 300), 0);
        for url in ["redis+sentinel://host/mymaster", "redis+cluster://host"] {
            assert_eq!((goes_on(url, 300), goes_on(url, 50)), (20_000, 10_000), "{url}");
        }
    }
}
