//! One open connection and what is asked over it.

use std::fmt::{self, Write as _};
use std::pin::pin;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::failure::{failure, made};
use super::lent::Lent;
use super::protocol::{Answer, Fault, Packets, ask};
use crate::coordinator::socket::Stream;
use crate::error::{Error, Retry};

/// How long a dropped connection may take to say goodbye.
const FAREWELL: Duration = Duration::from_secs(1);

/// What goes into a statement in place of `$1`, `$2` and so on. It is written so that no setting of a session's can read it
/// otherwise: numbers in decimal, everything else in hexadecimal.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// Nothing at all.
    Null,
    /// A number.
    Number(i64),
    /// Bytes as they are.
    Bytes(&'a [u8]),
    /// Text in UTF-8.
    Text(&'a str),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, bytes) = match self {
            Self::Null => return f.write_str("NULL"),
            Self::Number(number @ ..0) => return write!(f, "({number})"),
            Self::Number(number) => return write!(f, "{number}"),
            Self::Bytes(bytes) => ("X'", *bytes),
            Self::Text(text) => ("_utf8mb4 X'", text.as_bytes()),
        };
        f.write_str(start)?;
        bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
        f.write_char('\'')
    }
}

/// A statement with its values in their places; `$` stands for nothing else in ours.
pub(super) fn written(statement: &str, values: &[Value<'_>]) -> String {
    let mut parts = statement.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = part.split_at(digits);
        match number.parse::<usize>().ok().and_then(|number| values.get(number.checked_sub(1)?)) {
            Some(value) => write!(text, "{value}{rest}").unwrap_or_default(),
            None => write!(text, "${part}").unwrap_or_default(),
        }
    }
    text
}

/// Which of the two a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    MySql,
    MariaDb,
}

/// An open connection. The driver of ours runs on the runtime that it was made on, and ends when this is dropped.
pub struct Connection {
    way: Way,
    /// The address in messages.
    place: String,
    pub(super) kind: Kind,
}

enum Way {
    Ours {
        requests: mpsc::Sender<Request>,
        /// Why it ended; closed with the driver.
        end: watch::Receiver<Option<Error>>,
        /// The driver waits for its end.
        _wanted: oneshot::Sender<()>,
    },
    /// Each statement may come over another one.
    Lent(Lent),
}

struct Request {
    statement: String,
    answer: oneshot::Sender<Result<Answer, Error>>,
}

impl Connection {
    /// Over a conversation in which we have logged in.
    pub(super) fn over(packets: Packets<Box<dyn Stream>>, place: String) -> Self {
        let (requests, asked) = mpsc::channel(1);
        let (why, end) = watch::channel(None);
        let (wanted, dropped) = oneshot::channel();
        tokio::spawn(drive(packets, place.clone(), asked, why, dropped));
        Self { way: Way::Ours { requests, end, _wanted: wanted }, place, kind: Kind::MySql }
    }

    /// Over those that the user's own program has.
    pub(super) fn lent(lent: Lent) -> Self {
        Self { place: lent.name().to_owned(), kind: lent.kind, way: Way::Lent(lent) }
    }

    /// Whether one statement comes over the same connection as the one before, so that there can be transactions.
    pub(super) fn is_one(&self) -> bool {
        matches!(self.way, Way::Ours { .. })
    }

    /// Whether the server or the network ended it.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        match &self.way {
            Way::Ours { end, .. } => end.has_changed().is_err(),
            Way::Lent(_) => false,
        }
    }

    /// Waits until the server or the network ends it, and says why.
    pub async fn closed(&self) -> Option<Error> {
        let Way::Ours { end, .. } = &self.way else { return std::future::pending().await };
        let mut end = end.clone();
        while end.changed().await.is_ok() {}
        end.borrow().clone()
    }

    /// Asks one statement, in one round trip. It is written and read as text.
    ///
    /// # Errors
    /// `COORDINATOR` with the class of retry that fits.
    pub async fn query(&self, statement: &str, values: &[Value<'_>]) -> Result<Answer, Error> {
        let (requests, end) = match &self.way {
            Way::Ours { requests, end, .. } => (requests, end),
            Way::Lent(lent) => return lent.query(statement, values).await,
        };
        let (answer, answered) = oneshot::channel();
        let request = Request { statement: written(statement, values), answer };
        if requests.send(request).await.is_err() {
            return Err(self.ended(end));
        }
        answered.await.unwrap_or_else(|_| Err(self.ended(end)))
    }

    /// Why there is no answer.
    fn ended(&self, end: &watch::Receiver<Option<Error>>) -> Error {
        let why = end.borrow().clone();
        why.unwrap_or_else(|| self.wrong("the server ended the connection", None))
    }

    /// An error about this server that it did not report itself.
    pub(super) fn wrong(&self, what: &str, hint: Option<&str>) -> Error {
        made(&self.place, what, None, hint.map(str::to_owned)).retry_as(Retry::Soon)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("closed", &self.is_closed()).finish_non_exhaustive()
    }
}

/// Asks until the connection ends, or until nobody wants it any more; an answer that does not come is left.
async fn drive(
    mut packets: Packets<Box<dyn Stream>>,
    place: String,
    mut asked: mpsc::Receiver<Request>,
    why: watch::Sender<Option<Error>>,
    dropped: oneshot::Receiver<()>,
) {
    let mut serving = pin!(serve(&mut packets, &place, &mut asked));
    tokio::select! {
        error = &mut serving => drop(why.send(error)),
        _ = dropped => drop(timeout(FAREWELL, serving).await),
    }
}

/// One request after the other. In between it listens: a server says when it ends an idle connection. Returns why it ended,
/// unless nobody wants it.
async fn serve(
    packets: &mut Packets<Box<dyn Stream>>,
    place: &str,
    asked: &mut mpsc::Receiver<Request>,
) -> Option<Error> {
    // In the middle of a conversation a strange word says nothing of what the next one will be like.
    let judge = |fault: &Fault| match fault {
        Fault::Strange => failure(place, fault).retry_as(Retry::Soon),
        fault => failure(place, fault),
    };
    loop {
        let request = tokio::select! {
            biased;
            request = asked.recv() => request,
            fault = packets.end() => return Some(judge(&fault)),
        };
        let Some(Request { statement, answer }) = request else {
            packets.leave().await;
            return None;
        };
        match ask(packets, &statement).await {
            Err(fault) if !matches!(fault, Fault::Server(..)) => {
                let error = judge(&fault);
                let _ = answer.send(Err(error.clone()));
                return Some(error);
            }
            done => drop(answer.send(done.map_err(|fault| judge(&fault)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_their_places() {
        let values = [Value::Null, Value::Number(-5), Value::Bytes(b"\0\xff'"), Value::Text("ä'$1"), Value::Bytes(b"")];
        assert_eq!(
            written("select $2, $1, $3, $4, $5, $10, $0, $, $2", &values),
            "select (-5), NULL, X'00FF27', _utf8mb4 X'C3A4272431', X'', $10, $0, $, (-5)"
        );
        assert_eq!(written("select 1", &[]), "select 1");
        let many: Vec<_> = (1..=12).map(Value::Number).collect();
        assert_eq!(written("$1$11$12", &many), "11112");
    }
}
