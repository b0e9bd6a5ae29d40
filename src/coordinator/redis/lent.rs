//! Connections that the user's own program has, lent to us one script at a time.

use std::time::Duration;

use ::redis::Value;

use super::connection::{Argument, Script};
use super::failure::{made, said};
use super::session::{Server, Session};
use crate::coordinator::beside::Beside;
use crate::coordinator::functions::{Own, Request, Said, Trouble};
use crate::coordinator::keeper::Ends;
use crate::error::{Error, Retry};

/// A server that is reached through a function of the user's.
#[derive(Debug, Clone)]
pub struct Lent {
    own: Own,
    key: String,
}

impl Lent {
    /// Runs scripts.
    #[must_use]
    pub fn new(own: Own) -> Self {
        Self { own, key: String::new() }
    }

    /// An address that nobody else has.
    #[must_use]
    pub fn address(&self) -> String {
        self.own.address()
    }

    async fn ask(&self, script: &str, key: &str, arguments: Vec<String>) -> Result<Value, Error> {
        let request = Request::Eval { script: script.to_owned(), key: key.to_owned(), arguments };
        match self.own.call(request).await {
            Ok(Said::No) => Ok(Value::Nil),
            Ok(Said::List(values)) => Ok(Value::Array(values.into_iter().map(value).collect())),
            Ok(Said::Grant(_) | Said::Rows(_)) => {
                let what = "answered what belongs to another function".to_owned();
                Err(failure(self.own.name(), &Trouble { what, ..Trouble::default() }))
            }
            Err(trouble) => Err(failure(self.own.name(), &trouble)),
        }
    }
}

fn value(text: Option<String>) -> Value {
    text.map_or(Value::Nil, |text| Value::BulkString(text.into_bytes()))
}

/// `ERR_MINTID_COORDINATOR` with the server's own words, where it was one that spoke.
fn failure(place: &str, trouble: &Trouble) -> Error {
    if trouble.is_final {
        return Error::config("coordinator", format!("coordinator: eval() {}", trouble.what));
    }
    if let Some((code, detail)) = trouble.said.as_deref().and_then(words) {
        return said(place, code, detail);
    }
    made(place, &format!("eval() {}", trouble.what), trouble.code.as_deref(), trouble.hint.clone())
        .retry_as(Retry::Soon)
}

/// A server's error begins with a word in capitals.
fn words(message: &str) -> Option<(&str, &str)> {
    let (code, detail) = message.split_once(' ').unwrap_or((message, ""));
    (code.len() > 1 && code.bytes().all(|letter| letter.is_ascii_uppercase())).then_some((code, detail))
}

impl Server for Lent {
    type Connection = Self;

    const CAN_WAIT: bool = false;

    fn address(&self) -> String {
        self.own.name().to_owned()
    }

    #[expect(private_interfaces, reason = "nobody else has servers")]
    fn beside(&self) -> Beside {
        Beside::Nobody
    }

    /// Where it leads nobody says.
    fn former_master_goes_on(&self, _ttl: Duration) -> Duration {
        Duration::ZERO
    }

    fn replicas(&self) -> u32 {
        0
    }

    async fn connect(&self, key: &str) -> Result<Self, Error> {
        Ok(Self { key: key.to_owned(), ..self.clone() })
    }
}

impl Ends for Lent {
    fn is_closed(&self) -> bool {
        false
    }

    async fn closed(&self) {
        std::future::pending::<()>().await;
    }
}

impl Session for Lent {
    async fn eval(&self, script: &Script, keys: &[&str], arguments: &[Argument<'_>]) -> Result<Value, Error> {
        let arguments = arguments.iter().map(|argument| match argument {
            Argument::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Argument::Number(number) => number.to_string(),
        });
        self.ask(script.text(), keys.first().unwrap_or(&""), arguments.collect()).await
    }

    async fn command(&self, parts: &[&[u8]]) -> Result<Value, Error> {
        const COMMAND: &str = "local said = redis.call(unpack(ARGV))\n\
                               return type(said) == 'table' and said or { said }";
        let parts = parts.iter().map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        match self.ask(COMMAND, &self.key, parts).await? {
            Value::Array(mut values) if values.len() == 1 => Ok(values.remove(0)),
            several => Ok(several),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn a_servers_words_are_told_from_those_of_a_driver() {
        let trouble = |message: &str| Trouble {
            what: format!("threw Error: {message}"),
            said: Some(message.to_owned()),
            ..Trouble::default()
        };
        let server = failure("lent", &trouble("NOPERM this user has no permissions"));
        assert_eq!((server.fields().server_code.as_deref(), server.retry()), (Some("NOPERM"), Retry::Never));
        assert_eq!(server.message(), "lent: NOPERM this user has no permissions");
        for driver in ["Connection is closed.", "The client is closed", "I am no server", ""] {
            let error = failure("lent", &trouble(driver));
            assert_eq!((error.fields().server_code.as_deref(), error.retry()), (None, Retry::Soon), "{driver}");
            assert_eq!(error.message(), format!("lent: eval() threw Error: {driver}"));
        }
        let last = failure("lent", &Trouble { is_final: true, ..trouble("no") });
        assert_eq!((last.code(), last.retry()), (Code::Config, Retry::Never));
    }
}
