//! Other software that leases machine IDs from the same server, and that we live with.

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

/// An address with one more parameter.
pub(super) fn with(address: String, parameter: Option<&str>) -> String {
    match parameter {
        None => address,
        Some(parameter) => format!("{address}{}{parameter}", if address.contains('?') { '&' } else { '?' }),
    }
}
