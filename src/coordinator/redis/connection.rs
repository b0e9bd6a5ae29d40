//! One open connection and what is asked over it.

use std::fmt;
use std::pin::pin;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, RedisConnectionInfo, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::failure::{failure, made};
use super::settings::{Host, Login};
use crate::error::{Error, Retry};

/// How long a dropped connection may take to say goodbye.
const FAREWELL: Duration = Duration::from_secs(1);

/// A script in Lua, known to a server by its hash.
#[derive(Debug, Clone)]
pub struct Script {
    text: String,
    hash: String,
}

impl Script {
    /// Of its text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let hash = redis::Script::new(&text).get_hash().to_owned();
        Self { text, hash }
    }

    /// The script itself.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// One argument of a script.
#[derive(Debug, Clone, Copy)]
pub enum Argument<'a> {
    /// Bytes as they are.
    Bytes(&'a [u8]),
    /// A number, in decimal.
    Number(i64),
}

impl<'a> From<&'a [u8]> for Argument<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a str> for Argument<'a> {
    fn from(text: &'a str) -> Self {
        Self::Bytes(text.as_bytes())
    }
}

impl From<i64> for Argument<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

/// An open connection. Its driver runs on the runtime that it was made on, and ends when this is dropped.
pub struct Connection {
    requests: MultiplexedConnection,
    /// The address in messages.
    place: String,
    /// The server behind it, where the address has several.
    pub(super) host: Option<Host>,
    /// Whether each command comes to a key that is on its way to this node of the cluster.
    pub(super) asking: bool,
    /// Closed with the driver.
    end: watch::Receiver<()>,
    /// The driver waits for its end.
    _wanted: oneshot::Sender<()>,
}

impl Connection {
    /// Over a stream that is open; nobody has logged in yet.
    pub(super) async fn over<S>(stream: S, place: String, host: Option<Host>) -> Result<Self, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        // What is sent at first is our own business, and so is how long an answer may take.
        let nothing = RedisConnectionInfo::default().set_skip_set_lib_name();
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let (requests, driver) = MultiplexedConnection::new_with_config(&nothing, stream, config)
            .await
            .map_err(|error| failure(&place, &error))?;
        let (alive, end) = watch::channel(());
        let (wanted, dropped) = oneshot::channel();
        tokio::spawn(drive(driver, alive, dropped));
        Ok(Self { requests, place, host, asking: false, end, _wanted: wanted })
    }

    /// Whether the server or the network ended it.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.end.has_changed().is_err()
    }

    /// Waits until the server or the network ends it. Neither says why.
    pub async fn closed(&self) {
        let mut end = self.end.clone();
        while end.changed().await.is_ok() {}
    }

    /// Runs a script with the keys that it declares: by its hash, and with its text where the server does not know it.
    ///
    /// # Errors
    /// `COORDINATOR` with the class of retry that fits.
    pub async fn eval(&self, script: &Script, keys: &[&str], arguments: &[Argument<'_>]) -> Result<Value, Error> {
        match self.run("EVALSHA", &script.hash, keys, arguments).await {
            Err(error) if error.fields().server_code.as_deref() == Some("NOSCRIPT") => {
                self.run("EVAL", &script.text, keys, arguments).await
            }
            done => done,
        }
    }

    /// Sends one command as it is.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    pub async fn command(&self, parts: &[&[u8]]) -> Result<Value, Error> {
        let mut command = Cmd::new();
        for part in parts {
            command.arg(*part);
        }
        self.send(&command).await
    }

    async fn run(&self, name: &str, script: &str, keys: &[&str], arguments: &[Argument<'_>]) -> Result<Value, Error> {
        let mut command = Cmd::new();
        command.arg(name).arg(script).arg(keys.len()).arg(keys);
        for argument in arguments {
            match argument {
                Argument::Bytes(bytes) => command.arg(*bytes),
                Argument::Number(number) => command.arg(*number),
            };
        }
        if self.asking {
            self.send(&redis::cmd("ASKING")).await?;
        }
        self.send(&command).await
    }

    async fn send(&self, command: &Cmd) -> Result<Value, Error> {
        let answer = self.requests.clone().send_packed_command(command).await;
        answer.and_then(Value::extract_error).map_err(|error| failure(&self.place, &error))
    }

    /// An error about this server that it did not report itself.
    pub(super) fn wrong(&self, what: &str, hint: &str) -> Error {
        let host = self.host.as_ref().map(|host| format!("{host}: ")).unwrap_or_default();
        made(&self.place, &format!("{host}{what}"), None, Some(hint.to_owned())).retry_as(Retry::Soon)
    }

    /// Says who we are and which database is meant, in one round trip.
    pub(super) async fn log_in(
        &self,
        Login { user, password }: &Login,
        database: u32,
        name: &str,
    ) -> Result<(), Error> {
        let mut login = redis::cmd("AUTH");
        // A user without a password takes any.
        login.arg(user).arg(password.as_deref().map_or("", String::as_str));
        let mut select = redis::cmd("SELECT");
        select.arg(database);
        let mut set_name = redis::cmd("CLIENT");
        set_name.arg("SETNAME").arg(name);
        let login = self.send_if(user.is_some() || password.is_some(), &login);
        let (login, select, named) = tokio::join!(login, self.send_if(database != 0, &select), self.send(&set_name));
        login?;
        select?;
        match named {
            // Some services and some users know no names.
            Err(error) if !is_about_the_name(&error) => Err(error),
            _ => Ok(()),
        }
    }

    async fn send_if(&self, wanted: bool, command: &Cmd) -> Result<(), Error> {
        if wanted { self.send(command).await.map(drop) } else { Ok(()) }
    }
}

fn is_about_the_name(error: &Error) -> bool {
    matches!(error.fields().server_code.as_deref(), Some("ERR" | "NOPERM")) && error.retry() == Retry::Never
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("closed", &self.is_closed()).finish_non_exhaustive()
    }
}

/// Moves bytes until the connection ends, or until nobody wants it any more; an answer that does not come is left.
async fn drive(driver: impl Future<Output = ()>, alive: watch::Sender<()>, dropped: oneshot::Receiver<()>) {
    let mut driver = pin!(driver);
    tokio::select! {
        () = &mut driver => {}
        _ = dropped => drop(timeout(FAREWELL, driver).await),
    }
    drop(alive);
}
