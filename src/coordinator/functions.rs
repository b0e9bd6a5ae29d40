//! Functions of the user's: those of a custom coordinator, and those that lend a connection. They belong to one thread and
//! are called from another.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Answer;

/// Functions, wherever they run.
pub trait Functions: fmt::Debug + Send + Sync + 'static {
    /// Has one of them called. When the future is dropped nobody waits for the answer any more.
    fn call(&self, request: Request) -> Answer<'_, Result<Said, Trouble>>;
}

/// What a function is called with. Times are milliseconds since 1970 by the coordinator's clock.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// `acquire`.
    Acquire {
        /// Which of the coordinator's registries.
        namespace: String,
        /// First machine ID that may be granted.
        first: u32,
        /// Last one.
        last: u32,
        /// For how long, in milliseconds.
        ttl_ms: u64,
        /// What may serve as the claim's token: nobody else has it.
        token: String,
        /// Who asks, for people.
        holder: String,
        /// Bit widths and epoch.
        layout: String,
        /// Of the base key, if there is one.
        fingerprint: Option<String>,
    },
    /// `renew`.
    Renew {
        /// Which of the coordinator's registries.
        namespace: String,
        /// Machine ID.
        machine: u32,
        /// The claim's token.
        token: String,
        /// For how long from now, in milliseconds.
        ttl_ms: u64,
        /// The end that was confirmed last.
        end_ms: u64,
    },
    /// `release`.
    Release {
        /// Which of the coordinator's registries.
        namespace: String,
        /// Machine ID.
        machine: u32,
        /// The claim's token.
        token: String,
        /// The last moment that was used.
        last_used_ms: u64,
    },
    /// `query`, of who lends a connection to a database: one statement.
    Query {
        /// What to run.
        statement: String,
        /// What stands for its places, each a text or null.
        parameters: Vec<Option<String>>,
    },
    /// `eval`, of who lends a connection to Redis: one script.
    Eval {
        /// What to run.
        script: String,
        /// The one key that it declares.
        key: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
}

/// What a function answered, of the right types and else as it came.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Nothing: every machine ID is leased, or the lease is not this holder's any more, or it was released; or nil.
    No,
    /// A grant.
    Grant(Granted),
    /// A statement's rows: texts by the names of their columns.
    Rows(Vec<HashMap<String, Option<String>>>),
    /// A script's list.
    List(Vec<Option<String>>),
}

/// What a function granted. Times are milliseconds since 1970 by the coordinator's clock, whole or not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Granted {
    /// Machine ID; a renewal has none.
    pub machine: Option<f64>,
    /// The claim's token, if it is not the one that was offered.
    pub token: Option<String>,
    /// When it was decided.
    pub now_ms: f64,
    /// First moment that may not be used.
    pub end_ms: f64,
    /// How many of the machine IDs asked for are leased, if that is known.
    pub leased: Option<f64>,
}

/// Why there is no answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trouble {
    /// What the function did, to be read after its name: `threw Error: …`.
    pub what: String,
    /// The code of what was thrown.
    pub code: Option<String>,
    /// A server's own words behind it, where they can be told from the rest.
    pub said: Option<String>,
    /// Where it was thrown, or what to do.
    pub hint: Option<String>,
    /// Whether the function says that trying again cannot help.
    pub is_final: bool,
}

impl Request {
    /// The name of the function that is called.
    #[must_use]
    pub const fn operation(&self) -> &'static str {
        match self {
            Self::Acquire { .. } => "acquire",
            Self::Renew { .. } => "renew",
            Self::Release { .. } => "release",
            Self::Query { .. } => "query",
            Self::Eval { .. } => "eval",
        }
    }
}

/// One user's functions and what messages call them. No two share a lease.
#[derive(Debug, Clone)]
pub struct Own {
    name: String,
    number: u64,
    functions: Arc<dyn Functions>,
}

impl Own {
    /// `name`: for messages.
    #[must_use]
    pub fn new(name: String, functions: Arc<dyn Functions>) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        Self { name, number: NUMBERS.fetch_add(1, Ordering::Relaxed), functions }
    }

    /// What messages call them.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Has one of them called.
    #[must_use]
    pub fn call(&self, request: Request) -> Answer<'_, Result<Said, Trouble>> {
        self.functions.call(request)
    }

    /// An address that nobody else has: who shares a lease shares a thread's functions too, and would call them from another.
    #[must_use]
    pub fn address(&self) -> String {
        format!("custom {}", self.number)
    }
}
