//! What the parameters and the option `tls` say about TLS. Where nobody says otherwise, chain and name are verified.

use super::BOOLEANS;
use super::parameters::Key;
use crate::coordinator::address::Parameters;
use crate::coordinator::tls::{Encrypt, Identity, Roots, Source, Tls, TlsOptions, Verify};
use crate::error::Error;

const VERIFY: &[(&str, Verify)] = &[
    ("full", Verify::Full),
    ("FULL", Verify::Full),
    ("true", Verify::Full),
    ("ca", Verify::Chain),
    ("CA", Verify::Chain),
    ("none", Verify::Nothing),
    ("NONE", Verify::Nothing),
    ("false", Verify::Nothing),
];

const CERT_REQS: &[(&str, Verify)] = &[
    ("required", Verify::Full),
    ("CERT_REQUIRED", Verify::Full),
    // A client's connection always sees a certificate.
    ("optional", Verify::Full),
    ("CERT_OPTIONAL", Verify::Full),
    ("none", Verify::Nothing),
    ("CERT_NONE", Verify::Nothing),
];

pub(super) fn tls(given: &Parameters<Key>, options: &TlsOptions) -> Result<Tls, Error> {
    let asked = options.ask_for_tls() || options.reject_unauthorized.is_some();
    let on = match given.word(Key::Tls, BOOLEANS)? {
        Some(false) if asked => {
            return Err(Error::config("tls", "tls: there is nothing to secure, coordinator says tls=false"));
        }
        found => found.unwrap_or(asked),
    };
    let verify = verify(given, options)?;
    if !on {
        return Ok(Tls::off());
    }
    let roots = match given.get(Key::SslCa) {
        _ if !options.ca.is_empty() => Roots::Given(options.ca.iter().map(|pem| Source::pem("tls.ca", pem)).collect()),
        Some(path) => Roots::Given(vec![Source::file("ssl_ca_certs", path)]),
        None => Roots::System,
    };
    let tls = Tls {
        encrypt: Encrypt::Always,
        verify,
        roots,
        identity: identity(given, options)?,
        servername: options.servername.clone(),
        ..Tls::off()
    };
    tls.check()?;
    Ok(tls)
}

/// The weakest of what the parameters ask for; the option has the last word.
fn verify(given: &Parameters<Key>, options: &TlsOptions) -> Result<Verify, Error> {
    let peer = given.word(Key::VerifyPeer, VERIFY)?.unwrap_or(Verify::Full);
    let required = given.word(Key::SslCertReqs, CERT_REQS)?.unwrap_or(Verify::Full);
    let skipped = given.word(Key::SkipVerify, BOOLEANS)? == Some(true);
    let name = given.word(Key::SslCheckHostname, BOOLEANS)?.unwrap_or(true);
    let given = match (peer, required) {
        _ if skipped => Verify::Nothing,
        (Verify::Nothing, _) | (_, Verify::Nothing) => Verify::Nothing,
        (Verify::Full, _) if name => Verify::Full,
        _ => Verify::Chain,
    };
    Ok(match options.reject_unauthorized {
        None => given,
        Some(true) => Verify::Full,
        Some(false) => Verify::Nothing,
    })
}

fn identity(given: &Parameters<Key>, options: &TlsOptions) -> Result<Option<Identity>, Error> {
    let source = |pem: &Option<String>, name, key, parameter| {
        let file = given.get(key).map(|path| Source::file(parameter, path));
        pem.as_deref().map(|pem| Source::pem(name, pem)).or(file)
    };
    let cert = source(&options.cert, "tls.cert", Key::SslCert, "ssl_certfile");
    let key = source(&options.key, "tls.key", Key::SslKey, "ssl_keyfile");
    match (cert, key) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => Ok(Some(Identity { cert, key })),
        (Some(cert), None) => Err(cert.wrong("expected a key beside it; a root certificate is ssl_ca_certs or tls.ca")),
        (None, Some(key)) => Err(key.wrong("expected a certificate beside it")),
    }
}
