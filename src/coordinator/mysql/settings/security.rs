//! What the parameters and the option `tls` say about TLS.
//!
//! The option has the last word. Else it is as in MySQL's own client, and where that would be weaker than what was meant,
//! stronger: the operating system's roots verify the name too.

use super::BOOLEANS;
use super::parameters::Key;
use crate::coordinator::address::Parameters;
use crate::coordinator::address::parameters::wrong;
use crate::coordinator::tls::{Encrypt, Identity, Roots, Source, Tls, TlsOptions, Verify};
use crate::error::Error;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Disabled,
    Preferred,
    Required,
    NoVerify,
    VerifyCa,
    VerifyIdentity,
}

const MODES: &[(&str, Mode)] = &[
    ("DISABLED", Mode::Disabled),
    ("PREFERRED", Mode::Preferred),
    ("REQUIRED", Mode::Required),
    ("VERIFY_CA", Mode::VerifyCa),
    ("VERIFY_IDENTITY", Mode::VerifyIdentity),
    // MariaDB's, libpq's, and what people write.
    ("disable", Mode::Disabled),
    ("prefer", Mode::Preferred),
    ("require", Mode::Required),
    ("trust", Mode::NoVerify),
    ("verify-ca", Mode::VerifyCa),
    ("verify-identity", Mode::VerifyIdentity),
    ("verify-full", Mode::VerifyIdentity),
    ("verify_full", Mode::VerifyIdentity),
];

/// Where somebody says yes, a certificate is verified as in the connectors that have the word.
const SWITCHES: &[(&str, Mode)] = &[
    ("true", Mode::VerifyIdentity),
    ("false", Mode::Disabled),
    ("1", Mode::VerifyIdentity),
    ("0", Mode::Disabled),
    ("preferred", Mode::Preferred),
    ("skip-verify", Mode::NoVerify),
    // JSON, as in mysql2's URLs.
    ("{}", Mode::VerifyIdentity),
    (r#"{"rejectUnauthorized":true}"#, Mode::VerifyIdentity),
    (r#"{"rejectUnauthorized":false}"#, Mode::NoVerify),
];

pub(super) fn tls(given: &Parameters<Key>, options: &TlsOptions) -> Result<Tls, Error> {
    let (encrypt, verify) = level(given, options)?;
    if encrypt == Encrypt::Never {
        return Ok(Tls::off());
    }
    let tls = Tls {
        encrypt,
        verify,
        roots: roots(given, options),
        identity: identity(given, options)?,
        servername: options.servername.clone(),
        only_newest: only_newest(given)?,
        ..Tls::off()
    };
    tls.check()?;
    Ok(tls)
}

fn level(given: &Parameters<Key>, options: &TlsOptions) -> Result<(Encrypt, Verify), Error> {
    let mode = mode(given)?;
    if mode == Some(Mode::Disabled) {
        if options.ask_for_tls() {
            return Err(Error::config("tls", "tls: there is nothing to secure, coordinator says that TLS is disabled"));
        }
        return Ok((Encrypt::Never, Verify::Nothing));
    }
    if let Some(verify) = options.reject_unauthorized {
        return Ok((Encrypt::Always, if verify { Verify::Full } else { Verify::Nothing }));
    }
    let accept = accept(given)?;
    let rooted = given.get(Key::SslCa).is_some() || prismas_root(given).is_some();
    let chain = if rooted || !options.ca.is_empty() { Verify::Chain } else { Verify::Full };
    Ok(match mode {
        Some(Mode::VerifyIdentity) => (Encrypt::Always, Verify::Full),
        Some(Mode::VerifyCa) => (Encrypt::Always, chain),
        Some(Mode::NoVerify) => (Encrypt::Always, Verify::Nothing),
        None | Some(Mode::Preferred) if options.ask_for_tls() => (Encrypt::Always, Verify::Full),
        None | Some(Mode::Required) if rooted || !options.ca.is_empty() => (Encrypt::Always, accept.unwrap_or(chain)),
        Some(Mode::Required) => (Encrypt::Always, accept.unwrap_or(Verify::Nothing)),
        None | Some(Mode::Preferred | Mode::Disabled) => match accept {
            None | Some(Verify::Nothing) => (Encrypt::IfOffered, Verify::Nothing),
            Some(Verify::Chain) => (Encrypt::Always, chain),
            Some(Verify::Full) => (Encrypt::Always, Verify::Full),
        },
    })
}

/// The word that is MySQL's own, or those of the connectors.
fn mode(given: &Parameters<Key>) -> Result<Option<Mode>, Error> {
    if let Some(mode) = given.any_case(Key::SslMode, MODES)? {
        return Ok(Some(mode));
    }
    let ssl = match given.get(Key::Ssl) {
        Some(text) if text.starts_with('{') => {
            let text: String = text.split_ascii_whitespace().collect();
            let known = SWITCHES.iter().find(|(word, _)| *word == text).map(|(_, mode)| *mode);
            let expected = r#"true, false, {"rejectUnauthorized":…}, or the option tls for what else there is"#;
            Some(known.ok_or_else(|| wrong(Key::Ssl, expected, "another object"))?)
        }
        _ => given.any_case(Key::Ssl, &SWITCHES[..6])?,
    };
    let required = given.any_case(Key::RequireSsl, BOOLEANS)? == Some(true);
    Ok(match (ssl, given.any_case(Key::UseSsl, BOOLEANS)?) {
        (Some(mode), _) => Some(mode),
        (None, Some(false)) => Some(Mode::Disabled),
        (None, Some(true)) => Some(Mode::Required),
        (None, None) => required.then_some(Mode::Required),
    })
}

/// What of the certificate, where a word of its own says so: the weakest of what is asked for.
fn accept(given: &Parameters<Key>) -> Result<Option<Verify>, Error> {
    let words = [("strict", Verify::Full), ("accept_invalid_certs", Verify::Nothing)];
    let strict = given.word(Key::SslAccept, &words)?;
    let server = given.any_case(Key::VerifyServer, BOOLEANS)?;
    let name = given.any_case(Key::VerifyIdentity, BOOLEANS)?;
    let trusted = given.any_case(Key::TrustServer, BOOLEANS)? == Some(true);
    Ok(match (server, name) {
        _ if trusted || strict == Some(Verify::Nothing) => Some(Verify::Nothing),
        (Some(false), None | Some(false)) => Some(Verify::Nothing),
        (_, Some(true)) => Some(Verify::Full),
        (Some(true), _) => Some(Verify::Chain),
        (None, Some(false)) if strict.is_none() => Some(Verify::Chain),
        _ => strict,
    })
}

fn roots(given: &Parameters<Key>, options: &TlsOptions) -> Roots {
    if !options.ca.is_empty() {
        return Roots::Given(options.ca.iter().map(|pem| Source::pem("tls.ca", pem)).collect());
    }
    match given.get(Key::SslCa).map(|path| ("ssl-ca", path)).or(prismas_root(given).map(|path| ("sslcert", path))) {
        None => Roots::System,
        Some((name, path)) => Roots::Given(vec![Source::file(name, path)]),
    }
}

/// `sslcert` is a root, unless a key stands beside it.
fn prismas_root(given: &Parameters<Key>) -> Option<&str> {
    given.get(Key::SslCertOrRoot).filter(|_| given.get(Key::SslKey).is_none())
}

fn identity(given: &Parameters<Key>, options: &TlsOptions) -> Result<Option<Identity>, Error> {
    let inline = |name, pem: &Option<String>| pem.as_deref().map(|pem| Source::pem(name, pem));
    let file = |name, path: Option<&str>| path.map(|path| Source::file(name, path));
    let given_cert =
        given.get(Key::SslCert).or(given.get(Key::SslCertOrRoot).filter(|_| prismas_root(given).is_none()));
    let cert = inline("tls.cert", &options.cert).or_else(|| file("ssl-cert", given_cert));
    let key = inline("tls.key", &options.key).or_else(|| file("ssl-key", given.get(Key::SslKey)));
    match (cert, key) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => Ok(Some(Identity { cert, key })),
        (Some(cert), None) => Err(cert.wrong("expected a key beside it; a root certificate is ssl-ca or tls.ca")),
        (None, Some(key)) => Err(key.wrong("expected a certificate beside it")),
    }
}

/// We speak 1.2 and 1.3.
fn only_newest(given: &Parameters<Key>) -> Result<bool, Error> {
    let Some(list) = given.get(Key::TlsVersion) else { return Ok(false) };
    let has = |version: &str| list.split(',').any(|word| word.trim().eq_ignore_ascii_case(version));
    match (has("TLSv1.2"), has("TLSv1.3")) {
        (true, _) => Ok(false),
        (false, true) => Ok(true),
        (false, false) => Err(wrong(Key::TlsVersion, "TLSv1.2, TLSv1.3 or both", list)),
    }
}
