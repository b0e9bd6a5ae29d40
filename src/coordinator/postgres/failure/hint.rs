//! What to do about it.

use crate::coordinator::tls::Words;

/// What belongs to TLS is called, here and at the server.
pub(super) const TLS: Words = Words {
    root: "sslrootcert or tls.ca",
    identity: "sslcert and sslkey, or tls.cert and tls.key",
    chain_only: "sslmode=verify-ca",
    servers_root: "ssl_ca_file",
};

/// About what a server or a pooler said. Its message decides only where the code leaves it open.
pub(super) fn of_server(code: &str, message: &str) -> Option<&'static str> {
    let has = |part: &str| message.contains(part);
    Some(match code {
        "28P01" => "user or password is wrong; '/ @ # : ? %' in a password are best percent-encoded",
        "28000" if has("no encryption") || has("SSL off") => "the server wants TLS: sslmode=require or verify-full",
        "28000" if has("client certificate") => {
            "the server wants a certificate: sslcert and sslkey, or tls.cert and tls.key"
        }
        "28000" if has("certificate authentication failed") => "the certificate's common name is not the user's",
        "28000" if has("pg_hba.conf") => "the server's pg_hba.conf lets this user, database and address not in",
        "28000" => "this role may not log in, or not from here",
        "3D000" => "create the database, or name another one at the end of the URL",
        "3F000" => "create the schema, or name another one",
        "42501" => "grant the role that right, or let one that has it run: npx mintid setup",
        "53300" => "raise max_connections or the role's limit, or put a pooler in between",
        "25006" => "it is a replica, or the role's transactions are read-only; the primary is needed",
        "57P03" => "the server is starting up or shutting down",
        "42601" | "42883" | "42704" => "PostgreSQL 12 or newer is needed",
        "08P01" | "XX000" => of_pooler(message)?,
        _ => return None,
    })
}

/// Whether a pooler's words mean that somebody must change something first.
pub(super) fn is_final(message: &str) -> bool {
    FINAL.iter().any(|(part, _)| message.contains(part))
}

/// What pgbouncer, Supavisor and Neon's proxy say of themselves, all with one code.
const FINAL: &[(&str, &str)] = &[
    ("no such database", "the pooler has no such database"),
    ("no such user", "the pooler has no such user"),
    // What the server said to the pooler.
    ("database \"", "create the database, or name another one at the end of the URL"),
    ("pg_hba.conf", "the server's pg_hba.conf lets the pooler not in"),
    (
        "password authentication failed",
        "user or password is wrong; '/ @ # : ? %' in a password are best percent-encoded",
    ),
    ("SASL authentication failed", "user or password is wrong; '/ @ # : ? %' in a password are best percent-encoded"),
    ("auth failed", "user or password is wrong; '/ @ # : ? %' in a password are best percent-encoded"),
    ("not allowed", "the pooler lets this user not in"),
    ("SSL required", "the pooler wants TLS: sslmode=require or verify-full"),
    ("unsupported startup parameter", "name it in the pooler's ignore_startup_parameters, or leave it out of the URL"),
    ("Tenant or user not found", "the pooler knows neither tenant nor user; is the user spelled user.project?"),
    (
        "ndpoint ID is not specified",
        "the host's name must reach the proxy: leave sslsni on, or use options=endpoint%3D…",
    ),
];

fn of_pooler(message: &str) -> Option<&'static str> {
    let passing: &[(&str, &str)] = &[
        ("no more connections allowed", "raise the pooler's max_client_conn"),
        ("server login has been failing", "the pooler itself cannot log in at the server; its log says why"),
        ("query_wait_timeout", "the pooler got no connection to the server in time; its log says why"),
    ];
    FINAL.iter().chain(passing).find(|(part, _)| message.contains(part)).map(|(_, hint)| *hint)
}
