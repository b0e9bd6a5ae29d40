//! `eval`, as a user's driver of Redis would run it: every call over another connection.

use mintid::coordinator::Answer;
use mintid::coordinator::functions::{Functions, Request, Said, Trouble};
use mintid::coordinator::redis::{Settings, Value, connect};
use mintid::coordinator::tls::TlsOptions;
use mintid::error::Error;

/// Where the server is.
#[derive(Debug)]
pub(crate) struct Eval(pub(crate) String);

impl Functions for Eval {
    fn call(&self, request: Request) -> Answer<'_, Result<Said, Trouble>> {
        let Request::Eval { script, key, arguments } = request else { panic!("only an eval is lent: {request:?}") };
        Box::pin(async move {
            let value = self.run(&script, &key, &arguments).await.map_err(|error| trouble(&error))?;
            Ok(match value {
                Value::Nil => Said::No,
                Value::Array(values) => Said::List(values.into_iter().map(text).collect()),
                single => Said::List(vec![text(single)]),
            })
        })
    }
}

impl Eval {
    async fn run(&self, script: &str, key: &str, arguments: &[String]) -> Result<Value, Error> {
        let settings = Settings::parse(&self.0, &TlsOptions::default()).unwrap();
        let connection = connect(&settings, key).await?;
        let mut parts = vec![&b"EVAL"[..], script.as_bytes(), b"1", key.as_bytes()];
        parts.extend(arguments.iter().map(String::as_bytes));
        connection.command(&parts).await
    }
}

/// As JavaScript reads it.
fn text(value: Value) -> Option<String> {
    match value {
        Value::Nil => None,
        Value::Int(number) => Some(number.to_string()),
        Value::BulkString(bytes) => Some(String::from_utf8(bytes).unwrap()),
        Value::SimpleString(text) => Some(text),
        other => panic!("{other:?}"),
    }
}

fn trouble(error: &Error) -> Trouble {
    let said = error.message().split_once(": ").map(|(_, said)| said.to_owned());
    Trouble { what: format!("threw Error: {}", error.message()), said, ..Trouble::default() }
}
