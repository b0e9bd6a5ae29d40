//! What scripts answer: lists of texts and numbers, by place.

use ::redis::Value;

use super::confirm::Wait;
use super::failure::made;
use crate::coordinator::Token;
use crate::coordinator::registry::Found;
use crate::error::{Error, Retry};

/// One answer, whose places are counted from 1, as the scripts do.
pub(super) struct Answer<'a> {
    place: &'a str,
    values: Vec<Value>,
}

impl<'a> Answer<'a> {
    /// `None` for nil.
    pub(super) fn read(place: &'a str, value: Value) -> Result<Option<Self>, Error> {
        match value {
            Value::Nil => Ok(None),
            Value::Array(values) => Ok(Some(Self { place, values })),
            _ => Err(nonsense(place)),
        }
    }

    pub(super) fn text(&self, at: usize) -> Result<&str, Error> {
        match self.values.get(at - 1) {
            Some(Value::BulkString(bytes)) => std::str::from_utf8(bytes).map_err(|_| nonsense(self.place)),
            Some(Value::SimpleString(text)) => Ok(text),
            _ => Err(nonsense(self.place)),
        }
    }

    /// `None` where it was said to be nothing.
    pub(super) fn said(&self, at: usize) -> Result<Option<&str>, Error> {
        self.text(at).map(|text| Some(text).filter(|text| !text.is_empty()))
    }

    pub(super) fn number(&self, at: usize) -> Result<u64, Error> {
        match self.values.get(at - 1) {
            Some(Value::Int(number)) => u64::try_from(*number).map_err(|_| nonsense(self.place)),
            _ => self.text(at)?.parse().map_err(|_| nonsense(self.place)),
        }
    }

    pub(super) fn flag(&self, at: usize) -> Result<bool, Error> {
        self.number(at).map(|number| number != 0)
    }

    /// What to wait for.
    pub(super) fn wait(&self, at: usize) -> Result<Wait, Error> {
        match self.number(at)? {
            0 => Ok(Wait::Not),
            1 => Ok(Wait::Must),
            2 => Ok(Wait::May),
            _ => Err(self.nonsense()),
        }
    }

    pub(super) fn token(&self, at: usize) -> Result<Token, Error> {
        unhex(self.text(at)?).and_then(|bytes| bytes.try_into().ok()).map(Token).ok_or_else(|| nonsense(self.place))
    }

    /// What the processes agreed on, in five places.
    pub(super) fn found(&self, at: usize) -> Result<Found, Error> {
        let keys = self.said(at + 4)?.unwrap_or_default();
        Ok(Found {
            protocol: self.number(at)? as i32,
            layout: self.said(at + 1)?.map(str::to_owned),
            ttl_ms: self.said(at + 2)?.and_then(|ttl| ttl.parse().ok()),
            durable: self.said(at + 3)?.map(|durable| durable == "1"),
            fingerprints: keys.split(',').filter_map(unhex).filter(|key| !key.is_empty()).collect(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn nonsense(&self) -> Error {
        nonsense(self.place)
    }
}

/// Somebody else's hand was in it, or in between.
pub(super) fn nonsense(place: &str) -> Error {
    let hint = "does another program use the key, or is there a proxy that does not run scripts?";
    made(place, "the answer of a script is not what was expected", None, Some(hint.to_owned())).retry_as(Retry::Soon)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..text.len()).step_by(2).map(digit).collect()
}
