//! Sentinel: who is the master now.

use std::sync::atomic::Ordering;

use redis::Value;

use super::{Attempt, Dial};
use crate::coordinator::redis::connection::Connection;
use crate::coordinator::redis::failure::made;
use crate::coordinator::redis::settings::{Host, Sentinel};
use crate::error::{Error, Retry};

/// The question for a Sentinel.
struct WhoIsMaster<'a>(&'a Sentinel);

impl Attempt for WhoIsMaster<'_> {
    type Found = Host;

    async fn at(&self, dial: &Dial<'_>, host: &Host, more: bool) -> Result<Host, Error> {
        dial.ask(host, self.0, more).await
    }
}

impl Dial<'_> {
    /// The server that a Sentinel names, if it says itself that it is the master.
    pub(super) async fn master(&self, sentinel: &Sentinel) -> Result<Connection, Error> {
        let host = self.first_of(WhoIsMaster(sentinel)).await?;
        let master = self.check(&host).await;
        if master.is_err() {
            // It may be cut off from the others: the next time another one is asked.
            self.settings.first.fetch_add(1, Ordering::Relaxed);
        }
        master
    }

    async fn check(&self, host: &Host) -> Result<Connection, Error> {
        let connection =
            self.server(host, false).await.map_err(|error| self.of(&format!("the master {host}"), &error))?;
        match connection.command(&[b"ROLE"]).await {
            Ok(role) if is_master(&role) => Ok(connection),
            Ok(_) => Err(connection.wrong("it is no master", "a failover is under way, or the Sentinels disagree")),
            // Whoever may not ask finds out with the first write.
            Err(error) if error.fields().server_code.as_deref() == Some("NOPERM") => Ok(connection),
            Err(error) => Err(error),
        }
    }

    async fn ask(&self, host: &Host, sentinel: &Sentinel, more: bool) -> Result<Host, Error> {
        let tls = self.tls.filter(|_| sentinel.tls);
        let asked = self.open(host, tls, (&sentinel.login, 0), more).await.map_err(of_sentinel)?;
        let command: [&[u8]; 3] = [b"SENTINEL", b"GET-MASTER-ADDR-BY-NAME", sentinel.name.as_bytes()];
        read(asked.command(&command).await.map_err(of_sentinel)?).ok_or_else(|| {
            let text = format!("{host}: this Sentinel knows no such name");
            let hint = "is the name as in its configuration (sentinel monitor <name> …)?";
            made(&self.settings.address(), &text, None, Some(hint.to_owned()))
        })
    }
}

/// The Sentinels have a password of their own.
fn of_sentinel(error: Error) -> Error {
    let hint = match error.fields().server_code.as_deref() {
        Some("NOAUTH") => "the Sentinels ask for a password: sentinelPassword",
        Some("WRONGPASS") => "the Sentinels have another password: sentinelPassword, and sentinelUsername",
        Some("NOPERM") => "the Sentinels' user needs +sentinel|get-master-addr-by-name",
        Some("ERR") if error.retry() == Retry::Never => {
            "is that a Sentinel? Its port is usually 26379; one without a password gets none"
        }
        _ => return error,
    };
    error.with(|fields| fields.hint = Some(hint.to_owned()))
}

fn is_master(role: &Value) -> bool {
    matches!(role, Value::Array(parts) if matches!(parts.first(), Some(Value::BulkString(role)) if role == b"master"))
}

fn read(answer: Value) -> Option<Host> {
    let (host, port) = redis::from_redis_value::<Option<(String, u16)>>(answer).ok()??;
    Some(Host::new(&host, port))
}
