//! Other software that leases machine IDs from the same server, and that we live with.

#[cfg(any(feature = "mysql", feature = "postgres"))]
use crate::error::Error;

/// Who else leases from a registry: what the parameter `registry` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// It is ours alone.
    Nobody,
    /// NoNoncense 2, in its own table or hash.
    NoNoncense,
}

/// The words for it.
pub(super) const REGISTRIES: &[(&str, Beside)] = &[("mintid", Beside::Nobody), ("nononcense", Beside::NoNoncense)];

impl Beside {
    /// What it calls its table or hash: its default, or what the user named.
    pub(super) fn theirs(self, namespace: &str) -> Option<&str> {
        match self {
            Self::Nobody => None,
            Self::NoNoncense if namespace == "default" => Some("no_noncense_leases"),
            Self::NoNoncense => Some(namespace),
        }
    }

    /// As it stands in an address; two that differ in it are two registries.
    pub(super) fn parameter(self) -> Option<&'static str> {
        (self == Self::NoNoncense).then_some("registry=nononcense")
    }
}

/// About a server whose clock and that of the others' nodes differ; `remedy` is what its operator can do.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(super) fn without_utc(theirs: &str, zone: &str, remedy: &str) -> Error {
    let text = format!(
        "coordinator: expires_at of {theirs} has no time zone, and the server's default one is {zone}: nodes with another one \
         would take leases for over that are not; expected UTC ({remedy})"
    );
    Error::config("coordinator", text)
}

/// An address with one more parameter.
pub(super) fn with(address: String, parameter: Option<&str>) -> String {
    match parameter {
        None => address,
        Some(parameter) => format!("{address}{}{parameter}", if address.contains('?') { '&' } else { '?' }),
    }
}
