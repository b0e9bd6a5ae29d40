//! `query`, as a user's driver of PostgreSQL would run it: every call over another connection.

use std::collections::HashMap;

use mintid::coordinator::Answer;
use mintid::coordinator::functions::{Functions, Request, Said, Trouble};
use tokio_postgres::NoTls;
use tokio_postgres::types::{ToSql, Type};

/// Parameters are texts, and the one column of an answer is one.
#[derive(Debug)]
pub(crate) struct Query(pub(crate) String);

impl Functions for Query {
    fn call(&self, request: Request) -> Answer<'_, Result<Said, Trouble>> {
        let Request::Query { statement, parameters } = request else { panic!("only a query is lent: {request:?}") };
        Box::pin(
            async move { self.run(&statement, &parameters).await.map(Said::Rows).map_err(|error| trouble(&error)) },
        )
    }
}

impl Query {
    async fn run(
        &self,
        statement: &str,
        parameters: &[Option<String>],
    ) -> Result<Vec<HashMap<String, Option<String>>>, tokio_postgres::Error> {
        let (client, connection) = tokio_postgres::connect(&self.0, NoTls).await?;
        let driver = tokio::spawn(connection);
        let typed: Vec<(&(dyn ToSql + Sync), Type)> =
            parameters.iter().map(|parameter| (parameter as &(dyn ToSql + Sync), Type::TEXT)).collect();
        let rows = client.query_typed(statement, &typed).await;
        driver.abort();
        Ok(rows?.iter().filter(|row| !row.is_empty()).map(|row| texts(row.get("answer"))).collect())
    }
}

/// As JavaScript reads them.
fn texts(json: &str) -> HashMap<String, Option<String>> {
    use serde_json::Value;
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let Ok(Value::Object(fields)) = serde_json::from_str(json) else { panic!("no object: {json}") };
    fields
        .into_iter()
        .map(|(name, value)| match &value {
            Value::Null => (name, None),
            Value::Array(values) => (name, Some(values.iter().map(plain).collect::<Vec<_>>().join(","))),
            value => (name, Some(plain(value))),
        })
        .collect()
}

fn trouble(error: &tokio_postgres::Error) -> Trouble {
    Trouble {
        what: format!("threw error: {error}"),
        code: error.code().map(|code| code.code().to_owned()),
        said: error.as_db_error().map(|error| error.message().to_owned()),
        ..Trouble::default()
    }
}
