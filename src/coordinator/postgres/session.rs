//! What takes statements: a connection of our own, or one that is lent to us.

use std::collections::HashMap;

use tokio_postgres::types::{FromSqlOwned, ToSql, Type};

use super::connect::Connection;
use crate::coordinator::functions::Trouble;
use crate::coordinator::keeper::Ends;
use crate::error::Error;

/// A database, and how to get in.
pub trait Database: Send + Sync + 'static {
    /// An open connection, logged in.
    type Connection: Session;

    /// The address for messages, without credentials.
    fn address(&self) -> String;

    /// Where the tables are.
    fn schema(&self) -> &str;

    /// The table of other software that leases from the same registry, if there is one.
    fn theirs<'a>(&self, namespace: &'a str) -> Option<&'a str>;

    /// Opens a connection.
    fn connect(&self) -> impl Future<Output = Result<Self::Connection, Error>> + Send;
}

/// What takes statements.
pub trait Session: Ends {
    /// Whether one statement comes over the same connection as the one before, so that there can be transactions.
    const IS_ONE_CONNECTION: bool;

    /// One statement in one round trip. A statement that gives no rows gives none.
    fn rows(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> impl Future<Output = Result<Vec<Row>, Refusal>> + Send;

    /// What has no parameters and gives no rows. Several statements with semicolons between only where this is one
    /// connection.
    fn run(&self, statements: &str) -> impl Future<Output = Result<(), Refusal>> + Send;
}

/// What stands for one of a statement's places.
#[derive(Debug, Clone, Copy)]
pub enum Parameter<'a> {
    /// `text`.
    Text(Option<&'a str>),
    /// `int4`.
    Int4(i32),
    /// `int8`.
    Int8(Option<i64>),
    /// `bytea`.
    Bytes(Option<&'a [u8]>),
    /// `boolean`.
    Bool(Option<bool>),
}

impl Parameter<'_> {
    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Text(text) => (text, Type::TEXT),
            Self::Int4(number) => (number, Type::INT4),
            Self::Int8(number) => (number, Type::INT8),
            Self::Bytes(bytes) => (bytes, Type::BYTEA),
            Self::Bool(truth) => (truth, Type::BOOL),
        }
    }
}

/// One row of an answer.
#[derive(Debug)]
pub enum Row {
    /// As our own driver has it.
    Native(tokio_postgres::Row),
    /// As texts by the names of their columns.
    Texts(HashMap<String, Option<String>>),
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Refusal {
    /// What our own driver says.
    Native(tokio_postgres::Error),
    /// What the function says that lends a connection.
    Lent(Trouble),
}

impl From<tokio_postgres::Error> for Refusal {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Native(error)
    }
}

/// What can be read of a row's column.
pub(super) trait Cell: FromSqlOwned {
    /// Out of a text; `None` if it is no such thing.
    fn parse(text: Option<&str>) -> Option<Self>;
}

macro_rules! cells {
    ($($cell:ty),*) => {$(
        impl Cell for $cell {
            fn parse(text: Option<&str>) -> Option<Self> {
                text?.parse().ok()
            }
        }

        impl Cell for Option<$cell> {
            fn parse(text: Option<&str>) -> Option<Self> {
                text.map_or(Some(None), |text| text.parse().ok().map(Some))
            }
        }
    )*};
}

cells!(i32, i64, String);

impl Cell for bool {
    fn parse(text: Option<&str>) -> Option<Self> {
        match text? {
            "1" | "true" => Some(true),
            "0" | "false" => Some(false),
            _ => None,
        }
    }
}

impl Cell for Option<bool> {
    fn parse(text: Option<&str>) -> Option<Self> {
        text.map_or(Some(None), |text| bool::parse(Some(text)).map(Some))
    }
}

impl Cell for Vec<String> {
    fn parse(text: Option<&str>) -> Option<Self> {
        Some(text?.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect())
    }
}

impl Row {
    /// The value of a column.
    pub(super) fn get<T: Cell>(&self, name: &str) -> Result<T, Refusal> {
        match self {
            Self::Native(row) => Ok(row.try_get(name)?),
            Self::Texts(texts) => texts.get(name).and_then(|text| T::parse(text.as_deref())).ok_or_else(|| {
                let what = format!("answered no rows of the statement's: {name} is not as expected");
                Refusal::Lent(Trouble { what, ..Trouble::default() })
            }),
        }
    }
}

impl Session for Connection {
    const IS_ONE_CONNECTION: bool = true;

    async fn rows(&self, statement: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, Refusal> {
        let typed: Vec<_> = parameters.iter().map(Parameter::typed).collect();
        let rows = self.client.query_typed(statement, &typed).await?;
        Ok(rows.into_iter().map(Row::Native).collect())
    }

    async fn run(&self, statements: &str) -> Result<(), Refusal> {
        Ok(self.client.batch_execute(statements).await?)
    }
}
