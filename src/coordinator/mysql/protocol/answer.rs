//! What a server answers to a statement.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use super::wire::{Fields, text};
use super::{Fault, Packets};

/// What came of a statement.
#[derive(Debug, Default)]
pub struct Answer {
    /// How many rows it found and wrote.
    pub affected: u64,
    /// What it left to `LAST_INSERT_ID`.
    pub insert_id: u64,
    /// What it read.
    pub rows: Vec<Row>,
}

/// One row.
#[derive(Debug)]
pub struct Row {
    names: Arc<[String]>,
    values: Vec<Option<Vec<u8>>>,
}

/// What marks bytes in hexadecimal digits, where a row is of texts.
const BYTES: &str = "\0x";

impl Row {
    /// Of texts by the names of their columns.
    pub(in crate::coordinator::mysql) fn of(texts: HashMap<String, Option<String>>) -> Self {
        let value = |text: String| match text.strip_prefix(BYTES) {
            None => text.into_bytes(),
            Some(hex) => {
                let digit = |at: usize| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
                (0..hex.len()).step_by(2).filter_map(digit).collect()
            }
        };
        let (names, values): (Vec<_>, Vec<_>) = texts.into_iter().map(|(name, text)| (name, text.map(value))).unzip();
        Self { names: names.into(), values }
    }

    /// The bytes under a name; nothing where they are NULL.
    pub(in crate::coordinator::mysql) fn bytes(&self, name: &str) -> Result<Option<&[u8]>, Fault> {
        let index = self.names.iter().position(|known| known == name).ok_or(Fault::Strange)?;
        Ok(self.values.get(index).ok_or(Fault::Strange)?.as_deref())
    }

    /// The same as text.
    pub(in crate::coordinator::mysql) fn text(&self, name: &str) -> Result<Option<String>, Fault> {
        Ok(self.bytes(name)?.map(text))
    }

    /// The same as a whole number.
    pub(in crate::coordinator::mysql) fn number(&self, name: &str) -> Result<Option<i64>, Fault> {
        let number = self.bytes(name)?.map(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        number.map(|number| number.ok_or(Fault::Strange)).transpose()
    }

    /// As a driver of somebody else's would hand it on, for the tests that lend us one.
    #[doc(hidden)]
    #[must_use]
    pub fn texts(&self) -> HashMap<String, Option<String>> {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        let value =
            |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).unwrap_or_else(|_| BYTES.to_owned() + &hex(bytes));
        self.names.iter().cloned().zip(self.values.iter().map(|bytes| bytes.as_ref().map(value))).collect()
    }

    /// Its first value as text, for what has only one.
    #[must_use]
    pub fn first(&self) -> Option<String> {
        self.values.first()?.as_deref().map(text)
    }
}

/// Sends a statement and reads what came of it.
pub(in crate::coordinator::mysql) async fn ask<S>(packets: &mut Packets<S>, statement: &str) -> Result<Answer, Fault>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    const QUERY: u8 = 3;
    packets.restart();
    let request = [&[QUERY], statement.as_bytes()].concat();
    packets.write(&request).await?;
    let head = packets.read().await?;
    match head.first() {
        Some(0) => done(&head),
        Some(0xFF) => Err(refusal(&head).unwrap_or(Fault::Strange)),
        // It wants a file of ours.
        Some(0xFB) | None => Err(Fault::Strange),
        Some(_) => rows(packets, &head).await,
    }
}

fn done(packet: &[u8]) -> Result<Answer, Fault> {
    let mut fields = Fields::of(packet);
    fields.bytes(1)?;
    let (affected, insert_id) = (fields.size()?, fields.size()?);
    only_one(fields.number(2)?)?;
    Ok(Answer { affected, insert_id, rows: Vec::new() })
}

/// One statement has one answer.
fn only_one(status: u64) -> Result<(), Fault> {
    const MORE: u64 = 8;
    if status & MORE == 0 { Ok(()) } else { Err(Fault::Strange) }
}

async fn rows<S: AsyncRead + AsyncWrite + Unpin>(packets: &mut Packets<S>, head: &[u8]) -> Result<Answer, Fault> {
    const MOST: u64 = 1000;
    let columns = Fields::of(head).size()?;
    if columns > MOST {
        return Err(Fault::Strange);
    }
    let mut names = Vec::with_capacity(columns as usize);
    for _ in 0..columns {
        names.push(name(&packets.read().await?)?);
    }
    end(&packets.read().await?)?.ok_or(Fault::Strange)?;
    let names: Arc<[String]> = names.into();
    let mut rows = Vec::new();
    loop {
        let packet = packets.read().await?;
        if let Some(error) = refusal(&packet) {
            return Err(error);
        }
        if let Some(status) = end(&packet)? {
            only_one(status)?;
            return Ok(Answer { rows, ..Answer::default() });
        }
        let mut fields = Fields::of(&packet);
        let values: Result<_, Fault> = names.iter().map(|_| Ok(fields.value()?.map(<[u8]>::to_vec))).collect();
        rows.push(Row { names: Arc::clone(&names), values: values? });
    }
}

/// Of a column: behind its catalog, schema, and the table by both of its names.
fn name(packet: &[u8]) -> Result<String, Fault> {
    let mut fields = Fields::of(packet);
    for _ in 0..4 {
        fields.sized()?;
    }
    fields.sized().map(text)
}

/// The status that ends columns, and rows.
fn end(packet: &[u8]) -> Result<Option<u64>, Fault> {
    const LONGEST: usize = 8;
    if packet.first() != Some(&0xFE) || packet.len() > LONGEST {
        return Ok(None);
    }
    let mut fields = Fields::of(packet);
    fields.bytes(3)?;
    fields.number(2).map(Some)
}

/// The error that a packet is.
pub(super) fn refusal(packet: &[u8]) -> Option<Fault> {
    let mut fields = Fields::of(packet);
    if fields.number(1).ok()? != 0xFF {
        return None;
    }
    let code = fields.number(2).ok()?;
    let rest = fields.rest();
    let (state, message) = match rest.strip_prefix(b"#").and_then(|rest| rest.split_at_checked(5)) {
        Some(parts) => parts,
        None => (&b""[..], rest),
    };
    Some(Fault::Server(code as u16, text(state), text(message)))
}
