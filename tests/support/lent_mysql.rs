//! `query`, as a user's driver of MySQL or MariaDB would run it: every call over another connection, in a session that is
//! nothing like our own.

use mintid::coordinator::Answer;
use mintid::coordinator::functions::{Functions, Request, Said, Trouble};
use mintid::coordinator::mysql::{Settings, connect};
use mintid::coordinator::tls::TlsOptions;
use mintid::error::Error;

/// Where the server is, and what its sessions are set to.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) url: String,
    pub(crate) session: &'static str,
}

impl Query {
    pub(crate) fn at(url: String) -> Self {
        let session = "set time_zone = '-07:00', sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT'";
        Self { url, session }
    }

    async fn run(&self, statement: &str) -> Result<Said, Error> {
        let settings = Settings::parse(&self.url, &TlsOptions::default()).unwrap();
        let connection = connect(&settings).await?;
        connection.query("set session transaction isolation level repeatable read", &[]).await?;
        connection.query(self.session, &[]).await?;
        let answer = connection.query(statement, &[]).await?;
        Ok(Said::Rows(answer.rows.iter().map(mintid::coordinator::mysql::Row::texts).collect()))
    }
}

impl Functions for Query {
    fn call(&self, request: Request) -> Answer<'_, Result<Said, Trouble>> {
        let Request::Query { statement, parameters } = request else { panic!("only a query is lent: {request:?}") };
        assert!(parameters.is_empty(), "values stand in the statement");
        Box::pin(async move { self.run(&statement).await.map_err(|error| trouble(&error)) })
    }
}

fn trouble(error: &Error) -> Trouble {
    let said = error.message().split_once(": ").map(|(_, said)| said.to_owned());
    Trouble {
        what: format!("threw Error: {}", error.message()),
        code: error.fields().server_code.as_ref().map(|code| format!("{code}/HY000")),
        said,
        ..Trouble::default()
    }
}
