//! What the parameters and the option `tls` say about TLS.
//!
//! The option has the last word. Else it is as in libpq, and where libpq would be weaker than what was meant, stronger: a
//! root certificate without `sslmode` verifies the chain, the operating system's roots verify the name too.

use super::parameters::Key;
use crate::coordinator::address::Parameters;
use crate::coordinator::tls::{Encrypt, Identity, Roots, Source, Tls, TlsOptions, Verify};
use crate::error::Error;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Disable,
    Prefer,
    Require,
    NoVerify,
    VerifyCa,
    VerifyFull,
}

const MODES: &[(&str, Mode)] = &[
    ("disable", Mode::Disable),
    ("allow", Mode::Prefer),
    ("prefer", Mode::Prefer),
    ("require", Mode::Require),
    ("verify-ca", Mode::VerifyCa),
    ("verify-full", Mode::VerifyFull),
    ("no-verify", Mode::NoVerify),
];

/// `ssl`, which takes the same words too.
const SWITCHES: &[(&str, Mode)] =
    &[("true", Mode::Require), ("false", Mode::Disable), ("1", Mode::Require), ("0", Mode::Disable)];

pub(super) fn tls(given: &Parameters<Key>, options: &TlsOptions) -> Result<Tls, Error> {
    let (encrypt, verify) = level(given, options)?;
    let direct = given.word(Key::SslNegotiation, &[("postgres", false), ("direct", true)])?.unwrap_or(false);
    if direct && encrypt != Encrypt::Always {
        let text = "coordinator: sslnegotiation=direct needs sslmode=require, verify-ca or verify-full";
        return Err(Error::config("coordinator", text));
    }
    let versions = [("TLSv1", false), ("TLSv1.1", false), ("TLSv1.2", false), ("TLSv1.3", true)];
    let tls = Tls {
        encrypt,
        verify,
        roots: roots(given, options),
        identity: identity(given, options)?,
        servername: options.servername.clone(),
        sni: given.word(Key::SslSni, &[("0", false), ("1", true)])?.unwrap_or(true),
        protocol: direct.then_some("postgresql"),
        only_newest: given.word(Key::SslMinProtocolVersion, &versions)?.unwrap_or(false),
    };
    tls.check()?;
    Ok(tls)
}

fn level(given: &Parameters<Key>, options: &TlsOptions) -> Result<(Encrypt, Verify), Error> {
    let switches: Vec<_> = SWITCHES.iter().chain(MODES).copied().collect();
    let mode = match given.word(Key::SslMode, MODES)? {
        None => given.word(Key::Ssl, &switches)?,
        found => found,
    };
    if mode == Some(Mode::Disable) {
        if options.ask_for_tls() {
            return Err(Error::config("tls", "tls: there is nothing to secure, coordinator says sslmode=disable"));
        }
        return Ok((Encrypt::Never, Verify::Nothing));
    }
    if let Some(verify) = options.reject_unauthorized {
        return Ok((Encrypt::Always, if verify { Verify::Full } else { Verify::Nothing }));
    }
    // Prisma's.
    let accept = given.word(Key::SslAccept, &[("strict", Verify::Full), ("accept_invalid_certs", Verify::Nothing)])?;
    let system = options.ca.is_empty() && given.get(Key::SslRootCert).is_none_or(|root| root == "system");
    let chain = if system { Verify::Full } else { Verify::Chain };
    let rooted = !options.ca.is_empty() || given.get(Key::SslRootCert).is_some();
    Ok(match mode {
        None | Some(Mode::Prefer) if options.ask_for_tls() => (Encrypt::Always, Verify::Full),
        None | Some(Mode::Require) if rooted => (Encrypt::Always, accept.unwrap_or(chain)),
        None | Some(Mode::Prefer | Mode::Disable) if accept == Some(Verify::Full) => (Encrypt::Always, Verify::Full),
        None | Some(Mode::Prefer | Mode::Disable) => (Encrypt::IfOffered, Verify::Nothing),
        Some(Mode::Require) => (Encrypt::Always, accept.unwrap_or(Verify::Nothing)),
        Some(Mode::NoVerify) => (Encrypt::Always, Verify::Nothing),
        Some(Mode::VerifyCa) => (Encrypt::Always, chain),
        Some(Mode::VerifyFull) => (Encrypt::Always, Verify::Full),
    })
}

fn roots(given: &Parameters<Key>, options: &TlsOptions) -> Roots {
    if !options.ca.is_empty() {
        return Roots::Given(options.ca.iter().map(|pem| Source::pem("tls.ca", pem)).collect());
    }
    match given.get(Key::SslRootCert).or(prismas_root(given)) {
        None | Some("system") => Roots::System,
        Some(path) => Roots::Given(vec![Source::file("sslrootcert", path)]),
    }
}

/// In a URL of Prisma's, `sslcert` is the root certificate.
fn prismas_root(given: &Parameters<Key>) -> Option<&str> {
    let prisma = given.get(Key::SslAccept).is_some() || given.get(Key::SslIdentity).is_some();
    given.get(Key::SslCert).filter(|_| prisma && given.get(Key::SslKey).is_none())
}

fn identity(given: &Parameters<Key>, options: &TlsOptions) -> Result<Option<Identity>, Error> {
    let inline = |name, pem: &Option<String>| pem.as_deref().map(|pem| Source::pem(name, pem));
    let file = |name, path: Option<&str>| path.map(|path| Source::file(name, path));
    let given_cert = given.get(Key::SslCert).filter(|_| prismas_root(given).is_none());
    let cert = inline("tls.cert", &options.cert).or_else(|| file("sslcert", given_cert));
    let key = inline("tls.key", &options.key).or_else(|| file("sslkey", given.get(Key::SslKey)));
    match (cert, key) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => Ok(Some(Identity { cert, key })),
        (Some(cert), None) => Err(cert.wrong("expected a key beside it; a root certificate is sslrootcert or tls.ca")),
        (None, Some(key)) => Err(key.wrong("expected a certificate beside it")),
    }
}
