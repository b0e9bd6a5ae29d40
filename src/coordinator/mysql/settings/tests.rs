//! What URLs and parameters mean, and that no password is shown when they mean nothing.

use super::*;
use crate::coordinator::address::parameters::known;
use crate::coordinator::tls::{Encrypt, Roots, Verify};
use crate::error::Code;

fn good(url: &str) -> Settings {
    Settings::parse(url, &TlsOptions::default()).unwrap_or_else(|error| panic!("{url}: {error}"))
}

fn bad(url: &str) -> Error {
    let error = Settings::parse(url, &TlsOptions::default()).expect_err(url);
    assert_eq!((error.code(), error.fields().option), (Code::Config, Some("coordinator")), "{url}");
    error
}

fn of(given: &[(&str, &str)]) -> Result<Settings, Error> {
    let owned: Vec<_> = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Settings::from_parameters(&owned, &TlsOptions::default())
}

fn login(settings: &Settings) -> (&str, Option<&str>) {
    (&settings.user, settings.password.as_ref().map(|password| password.as_str()))
}

#[test]
fn one_place_has_one_spelling() {
    for (url, address) in [
        ("mysql://me@host/db", "mysql://me@host:3306/db"),
        ("MYSQL://me:pw@Host:7/db", "mysql://me@host:7/db"),
        ("mariadb://me@host/db", "mysql://me@host:3306/db"),
        ("mysql2://me@host/db", "mysql://me@host:3306/db"),
        ("mysql://me@/db", "mysql://me@localhost:3306/db"),
        ("mysql://host/db?user=me&password=x", "mysql://me@host:3306/db"),
        ("mysql://me@host?database=db", "mysql://me@host:3306/db"),
        ("mysql://?user=me&host=host&port=7&db=x", "mysql://me@host:7/x"),
        ("mysql://me@[::1]:7/db", "mysql://me@[::1]:7/db"),
        ("mysql://me@a,b:7/db", "mysql://me@a:3306,b:7/db"),
        ("mysql://m%40e@host/d%2Fb", "mysql://m%40e@host:3306/d%2Fb"),
        ("mysql://me@localhost/db?socket=/run/mysqld.sock", "mysql://me@localhost/db?socket=/run/mysqld.sock"),
        ("mysql://me@localhost/db?socketPath=/run/my%20sock", "mysql://me@localhost/db?socket=/run/my%20sock"),
        ("mysql://me:pw@%2Frun%2Fmysqld.sock/db", "mysql://me@localhost/db?socket=/run/mysqld.sock"),
        ("mysql://me@localhost/db?unix_socket=/run/mysqld.sock", "mysql://me@localhost/db?socket=/run/mysqld.sock"),
    ] {
        assert_eq!(good(url).address(), address, "{url}");
        assert_eq!(good(&good(url).address()).address(), address, "{url}");
        let beside = |url: &str| with(url.to_owned(), Beside::NoNoncense.parameter());
        assert_eq!(good(&beside(url)).address(), beside(address), "another registry in the same place");
    }
}

#[test]
fn passwords_are_read_whether_encoded_or_not() {
    let secrets = [
        "plain",
        "a/b",
        "/",
        "a@b",
        "@",
        "@@/",
        "a#b",
        "#",
        "a:b",
        ":",
        "a%b",
        "100%",
        "%zz",
        "a?b",
        "?",
        "a/b@c",
        "a@b/c",
        "a@b/c@d",
        "12/3@4/5",
        "a?b=c",
        "a@b?c",
        "a=b&c",
        "p@ss:w/o#r%d?",
        "[a]",
        "a,b",
        "ä€@😀",
        " a b ",
        "a%ffb",
        "1@2:3/4",
        "+",
    ];
    for secret in secrets {
        let encoded = secret.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
        for written in [secret, &encoded] {
            for tail in ["", "?ssl-mode=REQUIRED", "?sslaccept=strict&connection_limit=5"] {
                let url = format!("mysql://me:{written}@host:7000/db{tail}");
                let settings = good(&url);
                assert_eq!(login(&settings), ("me", Some(secret)), "{url}");
                assert_eq!(settings.address(), "mysql://me@host:7000/db", "{url}");
            }
        }
    }
    assert_eq!(login(&good("mysql://host/db?password=a@b&user=me")), ("me", Some("a@b")));
    assert_eq!(login(&good("mysql://me@host/db")), ("me", None));
}

#[test]
fn what_cannot_be_read_is_refused_and_shows_no_secret() {
    for (url, part) in [
        ("http://host", "expected mysql://"),
        ("host:3306", "expected mysql://"),
        ("mysqlx://me:s3cret@host/db", "expected mysql://"),
        ("mysql://host/db", "the user is missing"),
        ("mysql://me:s3cret@host", "the database is missing"),
        ("mysql://me:s3cret@host/", "the database is missing"),
        ("mysql://me:s3cret@host:x/db", "a port"),
        ("mysql://me:s3cret@host/db/x", "the database's name"),
        ("mysql://me:s3cret@host/db?sslMod=REQUIRED", "did you mean sslMode?"),
        ("mysql://me:s3cret@host/db?connectionLimits=1", "did you mean connectionLimit?"),
        ("mysql://me:s3cret@host/db?sslidentity=x", "sslidentity is not supported"),
        ("mysql://me:s3cret@host/db?serverRSAPublicKeyFile=x", "serverRSAPublicKeyFile is not supported"),
        ("mysql://me:s3cret@host/db?ssl-mode=maybe", "expected one of DISABLED"),
        ("mysql://me:s3cret@host/db?ssl=maybe", "expected one of true"),
        ("mysql://me:s3cret@host/db?ssl={\"ca\":\"s3cret\"}", "the option tls"),
        ("mysql://me:s3cret@host/db?tls-version=TLSv1.1", "TLSv1.2"),
        ("mysql://me:s3cret@host/db?socket=mysql.sock", "from / on"),
        ("mysql://me:s3cret@a,b/db?port=1,2,3", "3 ports for 2 hosts"),
        ("mysql://me:s3cret@host/db?connectTimeout=soon", "a whole number"),
        ("mysql://me:s3cret@host/d%00b", "a zero byte"),
    ] {
        let error = bad(url);
        assert!(error.message().contains(part), "{url}: {error}");
        assert!(!format!("{error:?}").contains("s3c"), "{url}: {error:?}");
    }
}

#[test]
fn the_object_form_takes_values_as_they_are() {
    let settings = of(&[
        ("host", "db"),
        ("port", "7000"),
        ("user", "me"),
        ("password", "a%20b@"),
        ("database", "x"),
        ("connectionLimit", "3"),
        ("connectTimeout", "1500"),
    ]);
    let settings = settings.unwrap();
    assert_eq!((settings.address().as_str(), login(&settings).1), ("mysql://me@db:7000/x", Some("a%20b@")));
    assert_eq!(settings.connect_timeout, Some(Duration::from_millis(1500)));
    let settings = of(&[("socketPath", "/run/mysqld.sock"), ("user", "me"), ("database", "x")]).unwrap();
    assert_eq!(settings.address(), "mysql://me@localhost/x?socket=/run/mysqld.sock");
    let error = of(&[("host", "db"), ("passwort", "s3cret")]).unwrap_err();
    assert_eq!(error.message(), "coordinator: unknown parameter \"passwort\"; did you mean password?");
    for (name, value, part) in [("port", "0", "from 1 to 65535"), ("host", "a b", "a host's name")] {
        let error = of(&[("user", "me"), ("database", "x"), (name, value)]).unwrap_err();
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn times_and_keys() {
    for (tail, timeout) in [
        ("", None),
        ("?connect_timeout=3", Some(3000)),
        ("?connectTimeout=3", Some(3)),
        ("?connectTimeout=0", None),
        ("?connect_timeout=9&connectTimeout=20", Some(20)),
    ] {
        let found = good(&format!("mysql://me@host/db{tail}")).connect_timeout;
        assert_eq!(found, timeout.map(Duration::from_millis), "{tail}");
    }
    assert!(good("mysql://me@host/db").may_take_key);
    assert!(!good("mysql://me@host/db?allowPublicKeyRetrieval=false").may_take_key);
}

#[test]
fn names_are_listed_once() {
    let mut names: Vec<_> = known::<Key>().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// When it is used, what is verified, and with which roots.
#[test]
fn tls_and_what_belongs_to_it() {
    use Encrypt::{Always, IfOffered, Never};
    use Verify::{Chain, Full, Nothing};
    for (tail, encrypt, verify, roots) in [
        ("", IfOffered, Nothing, "system"),
        ("ssl-mode=DISABLED", Never, Nothing, "system"),
        ("sslMode=disable", Never, Nothing, "system"),
        ("ssl_mode=Preferred", IfOffered, Nothing, "system"),
        ("ssl-mode=REQUIRED", Always, Nothing, "system"),
        ("ssl-mode=required&ssl-ca=/ca", Always, Chain, "ssl-ca /ca"),
        ("ssl-ca=/ca", Always, Chain, "ssl-ca /ca"),
        ("ssl_ca=/ca&ssl_verify_identity=true", Always, Full, "ssl-ca /ca"),
        ("ssl-mode=VERIFY_CA&ssl-ca=/ca", Always, Chain, "ssl-ca /ca"),
        ("ssl-mode=VERIFY_CA", Always, Full, "system"),
        ("ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca", Always, Full, "ssl-ca /ca"),
        ("sslmode=verify-full", Always, Full, "system"),
        ("sslMode=trust", Always, Nothing, "system"),
        ("ssl=true", Always, Full, "system"),
        ("ssl={}", Always, Full, "system"),
        ("ssl={\"rejectUnauthorized\": true}", Always, Full, "system"),
        ("ssl=%7B%22rejectUnauthorized%22%3Afalse%7D", Always, Nothing, "system"),
        ("ssl=false", Never, Nothing, "system"),
        ("tls=true", Always, Full, "system"),
        ("tls=skip-verify", Always, Nothing, "system"),
        ("tls=preferred", IfOffered, Nothing, "system"),
        ("useSSL=false", Never, Nothing, "system"),
        ("useSSL=false&allowPublicKeyRetrieval=true&serverTimezone=UTC", Never, Nothing, "system"),
        ("useSSL=true", Always, Nothing, "system"),
        ("useSSL=true&requireSSL=true&verifyServerCertificate=true", Always, Chain, "system"),
        ("useSsl=true&trustServerCertificate=true&serverSslCert=/ca", Always, Nothing, "ssl-ca /ca"),
        ("requireSSL=true", Always, Nothing, "system"),
        ("sslaccept=strict", Always, Full, "system"),
        ("sslaccept=accept_invalid_certs", IfOffered, Nothing, "system"),
        ("sslaccept=strict&sslcert=/ca", Always, Full, "sslcert /ca"),
        ("sslcert=/ca", Always, Chain, "sslcert /ca"),
    ] {
        let tls = good(&format!("mysql://me@host/db?{tail}")).tls;
        let found = match &tls.roots {
            Roots::System => "system".to_owned(),
            Roots::Given(sources) => format!("{sources:?}").trim_matches(['[', ']']).to_owned(),
        };
        assert_eq!((tls.encrypt, tls.verify, found.as_str()), (encrypt, verify, roots), "{tail}");
    }
    for tail in ["ssl-cert=/c&ssl-key=/k", "sslcert=/c&sslkey=/k"] {
        assert!(good(&format!("mysql://me@host/db?ssl-mode=REQUIRED&{tail}")).tls.identity.is_some(), "{tail}");
    }
    assert!(good("mysql://me@host/db?tls-version=TLSv1.3").tls.only_newest);
    assert!(!good("mysql://me@host/db?tlsVersions=TLSv1.2,TLSv1.3").tls.only_newest);
    assert!(bad("mysql://me@host/db?ssl-cert=/c").message().contains("a key beside it"));
}

#[test]
fn the_option_has_the_last_word() {
    use Verify::{Full, Nothing};
    let options = |reject, servername: Option<&str>| {
        let mut options = TlsOptions::default();
        (options.reject_unauthorized, options.servername) = (reject, servername.map(str::to_owned));
        options
    };
    for (tail, reject, servername, verify) in [
        ("", Some(true), None, Full),
        ("", Some(false), None, Nothing),
        ("", None, Some("name"), Full),
        ("?ssl-mode=PREFERRED", None, Some("name"), Full),
        ("?ssl-mode=REQUIRED", Some(true), None, Full),
        ("?ssl-mode=VERIFY_IDENTITY", Some(false), None, Nothing),
    ] {
        let settings = Settings::parse(&format!("mysql://me@host/db{tail}"), &options(reject, servername)).unwrap();
        assert_eq!((settings.tls.encrypt, settings.tls.verify), (Encrypt::Always, verify), "{tail} {reject:?}");
    }
    let error = Settings::parse("mysql://me@host/db?ssl-mode=DISABLED", &options(Some(true), None)).unwrap_err();
    assert_eq!(error.fields().option, Some("tls"));
}
