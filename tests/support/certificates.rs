//! Certificates for servers that tests start, made when they are needed.

use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

/// What signs the others.
pub(crate) struct Authority {
    /// Its certificate.
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key.
pub(crate) struct Signed {
    pub(crate) cert: String,
    pub(crate) key: String,
}

impl Authority {
    /// A new one.
    pub(crate) fn new(name: &str) -> Self {
        let mut params = named(name, &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// For a server with these names.
    pub(crate) fn server(&self, names: &[&str]) -> Signed {
        self.sign(named("server", names), ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// For a server, and it was good in the year 2001.
    pub(crate) fn expired(&self, names: &[&str]) -> Signed {
        let mut params = named("server", names);
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2001, 12, 31);
        self.sign(params, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// For a user.
    pub(crate) fn client(&self, user: &str) -> Signed {
        self.sign(named(user, &[]), ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(&self, mut params: CertificateParams, purpose: ExtendedKeyUsagePurpose) -> Signed {
        params.extended_key_usages = vec![purpose];
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.issuer).unwrap().pem();
        Signed { cert, key: key.serialize_pem() }
    }
}

/// A server's own authority, as `openssl req -x509` makes it.
pub(crate) fn self_signed(names: &[&str]) -> Signed {
    let mut params = named("server", names);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    Signed { cert: params.self_signed(&key).unwrap().pem(), key: key.serialize_pem() }
}

fn named(name: &str, names: &[&str]) -> CertificateParams {
    let mut params = CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}
