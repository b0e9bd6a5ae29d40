//! The one error of the crate: a stable [`Code`], a message that names the place and what was expected, and the fields
//! that help. It knows nothing of napi or of any driver; `binding/` turns it into data, `js/errors.js` into a class.

use std::fmt;
use std::time::Duration;

/// What went wrong. The string of each code is part of the public contract (`error.code` in JavaScript).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// An option is missing, incoherent, or disagrees with a sharer's or the registry's.
    Config,
    /// No lease yet.
    NotReady,
    /// The lease was lost; IDs come again with the next `leaseAcquired`.
    LeaseLost,
    /// The generator was closed.
    Closed,
    /// No lease within the time that `ready` was given.
    AcquireTimeout,
    /// Every machine ID is leased.
    Exhausted,
    /// A guarded machine ID is held by another process.
    Conflict,
    /// The coordinator cannot be reached, does not let us in, or cannot be used.
    Coordinator,
    /// The registry may have forgotten leases: it grants nothing new until they have all run out.
    RegistryReset,
    /// The registry was made by a newer version.
    RegistryVersion,
    /// A text or a value is not an ID of this type.
    InvalidId,
    /// A mask, or an encrypted kind, without a key.
    NoKey,
    /// A timestamp before the epoch, past the layout, or outside the fence.
    Time,
}

/// What a caller that can wait should do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Trying again cannot help; somebody must change something first.
    Never,
    /// The answer was clear and may be another one later: try again, and give up with this very error.
    Later,
    /// The outcome is unknown or the trouble passing: try again, and give up with a timeout that has this as its cause.
    Soon,
}

impl Code {
    /// Every code, for the test that keeps Rust, JavaScript, typings and docs in step.
    pub const ALL: [Self; 13] = [
        Self::Config,
        Self::NotReady,
        Self::LeaseLost,
        Self::Closed,
        Self::AcquireTimeout,
        Self::Exhausted,
        Self::Conflict,
        Self::Coordinator,
        Self::RegistryReset,
        Self::RegistryVersion,
        Self::InvalidId,
        Self::NoKey,
        Self::Time,
    ];

    /// The public name, `ERR_MINTID_…`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Config => "ERR_MINTID_CONFIG",
            Self::NotReady => "ERR_MINTID_NOT_READY",
            Self::LeaseLost => "ERR_MINTID_LEASE_LOST",
            Self::Closed => "ERR_MINTID_CLOSED",
            Self::AcquireTimeout => "ERR_MINTID_ACQUIRE_TIMEOUT",
            Self::Exhausted => "ERR_MINTID_EXHAUSTED",
            Self::Conflict => "ERR_MINTID_CONFLICT",
            Self::Coordinator => "ERR_MINTID_COORDINATOR",
            Self::RegistryReset => "ERR_MINTID_REGISTRY_RESET",
            Self::RegistryVersion => "ERR_MINTID_REGISTRY_VERSION",
            Self::InvalidId => "ERR_MINTID_INVALID_ID",
            Self::NoKey => "ERR_MINTID_NO_KEY",
            Self::Time => "ERR_MINTID_TIME",
        }
    }
}

/// An error with its code, its message and the fields that JavaScript shows beside them.
///
/// One pointer wide, so that the hot path's results stay small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    code: Code,
    message: String,
    retry: Retry,
    retry_in: Option<Duration>,
    fields: Fields,
    source: Option<Error>,
}

/// What an error can tell beside its message; a field that does not belong to the code stays `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// The option at fault (`CONFIG`).
    pub option: Option<&'static str>,
    /// The machine ID that was lost (`LEASE_LOST`), or that another has (`CONFLICT`).
    pub machine_id: Option<u32>,
    /// Why: a lease's reason (`LEASE_LOST`), or what is wrong with a text (`INVALID_ID`).
    pub reason: Option<&'static str>,
    /// What an ID of this type looks like (`INVALID_ID`).
    pub expected: Option<String>,
    /// How often the coordinator was asked (`ACQUIRE_TIMEOUT`).
    pub attempts: Option<u32>,
    /// How many machine IDs there are (`EXHAUSTED`).
    pub capacity: Option<u32>,
    /// Which coordinator, without credentials (`COORDINATOR`).
    pub coordinator: Option<String>,
    /// The coordinator's own code for it, as SQLSTATE (`COORDINATOR`).
    pub server_code: Option<String>,
    /// What to do about it (`COORDINATOR`).
    pub hint: Option<String>,
    /// Until when nothing new is granted, in milliseconds since 1970 by the coordinator's clock (`REGISTRY_RESET`).
    pub not_before_ms: Option<u64>,
    /// What an operator can run (`REGISTRY_RESET`, `REGISTRY_VERSION`).
    pub command: Option<&'static str>,
    /// The size whose key is missing (`NO_KEY`).
    pub bits: Option<u32>,
}

impl Error {
    /// An error that a retry cannot cure, except where its code says so (`EXHAUSTED`, `CONFLICT`).
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let retry = if matches!(code, Code::Exhausted | Code::Conflict) { Retry::Later } else { Retry::Never };
        Self(Box::new(Inner {
            code,
            message: message.into(),
            retry,
            retry_in: None,
            fields: Fields::default(),
            source: None,
        }))
    }

    /// `ERR_MINTID_CONFIG` about one option.
    pub fn config(option: &'static str, message: impl Into<String>) -> Self {
        Self::new(Code::Config, message).with(|fields| fields.option = Some(option))
    }

    /// The same error with some fields set.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Fields)) -> Self {
        set(&mut self.0.fields);
        self
    }

    /// The same error with another retry class.
    #[must_use]
    pub fn retry_as(mut self, retry: Retry) -> Self {
        self.0.retry = retry;
        self
    }

    /// The same error, with the time after which trying again may help, and not much sooner.
    #[must_use]
    pub fn retry_in(mut self, wait: Duration) -> Self {
        self.0.retry_in = Some(wait);
        self
    }

    /// The same error where the coordinator at fault stands in the option `guard`.
    #[must_use]
    pub fn about_guard(mut self) -> Self {
        if self.0.fields.option == Some("coordinator") {
            self.0.fields.option = Some("guard");
            if let Some(rest) = self.0.message.strip_prefix("coordinator") {
                self.0.message = format!("guard{rest}");
            }
        }
        self
    }

    /// The same error about one item of a list, counted from 0.
    #[must_use]
    pub fn in_item(mut self, index: usize) -> Self {
        self.0.message = format!("item {index}: {}", self.0.message);
        self
    }

    /// The same error with the one that caused it.
    #[must_use]
    pub fn caused_by(mut self, source: Error) -> Self {
        self.0.source = Some(source);
        self
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The sentence for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether trying again can help.
    #[must_use]
    pub fn retry(&self) -> Retry {
        self.0.retry
    }

    /// After what time trying again may help, if that is known.
    #[must_use]
    pub fn worth_retrying_in(&self) -> Option<Duration> {
        self.0.retry_in
    }

    /// The fields that help.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.0.fields
    }

    /// The error behind this one.
    #[must_use]
    pub fn cause(&self) -> Option<&Error> {
        self.0.source.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code.as_str(), self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause().map(|cause| cause as _)
    }
}

/// What was found, for a message: at most 64 characters, quoted and escaped, so that no input can break a log line.
#[must_use]
pub fn shown(found: &str) -> String {
    const LONGEST: usize = 64;
    let mut text = format!("{found:?}");
    if let Some((cut, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(cut);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_carry_the_public_prefix() {
        let names: std::collections::HashSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        assert!(names.iter().all(|name| name.starts_with("ERR_MINTID_")));
    }

    #[test]
    fn what_was_found_is_escaped_and_cut() {
        assert_eq!(shown("a\n\"b\""), r#""a\n\"b\"""#);
        assert_eq!(shown(&"x".repeat(1000)).chars().count(), 65);
        assert_eq!(shown(&"\u{1F600}".repeat(1000)).chars().count(), 65);
    }

    #[test]
    fn a_guard_is_called_by_its_name() {
        let error = Error::config("coordinator", "coordinator: unknown parameter \"x\"").about_guard();
        assert_eq!((error.fields().option, error.message()), (Some("guard"), "guard: unknown parameter \"x\""));
        let other = Error::config("lease.ttlMs", "lease.ttlMs: 1 here");
        assert_eq!(other.clone().about_guard(), other);
    }

    #[test]
    fn an_error_shows_code_and_message_and_keeps_its_cause() {
        let cause = Error::new(Code::Exhausted, "all 511 machine IDs are leased");
        let error = Error::new(Code::AcquireTimeout, "no lease in 60000 ms").caused_by(cause.clone());
        assert_eq!(error.to_string(), "ERR_MINTID_ACQUIRE_TIMEOUT: no lease in 60000 ms");
        assert_eq!(error.cause(), Some(&cause));
        assert_eq!(cause.retry(), Retry::Later);
    }
}
