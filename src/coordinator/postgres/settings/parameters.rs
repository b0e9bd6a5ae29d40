//! The names of parameters: ours, which are libpq's, and those that other drivers leave in the same URL.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use crate::error::{Error, shown};

/// A parameter that is honoured.
#[expect(clippy::enum_variant_names, reason = "sslkey is a key")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Host,
    HostAddr,
    Port,
    User,
    Password,
    Database,
    Schema,
    SearchPath,
    Options,
    ApplicationName,
    ConnectTimeout,
    TargetSessionAttrs,
    LoadBalanceHosts,
    Keepalives,
    KeepalivesIdle,
    KeepalivesInterval,
    KeepalivesCount,
    TcpUserTimeout,
    Ssl,
    SslMode,
    SslAccept,
    SslIdentity,
    SslRootCert,
    SslCert,
    SslKey,
    SslNegotiation,
    SslSni,
    SslMinProtocolVersion,
    ChannelBinding,
}

/// Every spelling of those.
const HONOURED: &[(&str, Key)] = &[
    ("host", Key::Host),
    ("hostaddr", Key::HostAddr),
    ("port", Key::Port),
    ("user", Key::User),
    ("username", Key::User),
    ("password", Key::Password),
    ("dbname", Key::Database),
    ("database", Key::Database),
    ("schema", Key::Schema),
    ("currentSchema", Key::SearchPath),
    ("search_path", Key::SearchPath),
    ("schema_search_path", Key::SearchPath),
    ("options", Key::Options),
    ("application_name", Key::ApplicationName),
    ("ApplicationName", Key::ApplicationName),
    ("connect_timeout", Key::ConnectTimeout),
    ("connectTimeout", Key::ConnectTimeout),
    ("target_session_attrs", Key::TargetSessionAttrs),
    ("load_balance_hosts", Key::LoadBalanceHosts),
    ("keepalives", Key::Keepalives),
    ("keepalives_idle", Key::KeepalivesIdle),
    ("keepalives_interval", Key::KeepalivesInterval),
    ("keepalives_count", Key::KeepalivesCount),
    ("keepalives_retries", Key::KeepalivesCount),
    ("tcp_user_timeout", Key::TcpUserTimeout),
    ("ssl", Key::Ssl),
    ("sslmode", Key::SslMode),
    ("sslaccept", Key::SslAccept),
    ("sslidentity", Key::SslIdentity),
    ("sslrootcert", Key::SslRootCert),
    ("sslcert", Key::SslCert),
    ("sslkey", Key::SslKey),
    ("sslnegotiation", Key::SslNegotiation),
    ("sslsni", Key::SslSni),
    ("ssl_min_protocol_version", Key::SslMinProtocolVersion),
    ("channel_binding", Key::ChannelBinding),
    ("channelBinding", Key::ChannelBinding),
];

/// What other drivers read, and what does not matter here. One line a driver, in the order of the alphabet.
const IGNORED: &[&str] = &[
    // libpq
    "client_encoding fallback_application_name gssdelegation gssencmode gsslib krbsrvname max_protocol_version",
    "min_protocol_version sslcertmode sslcompression ssl_max_protocol_version sslpassword",
    // Prisma
    "connection_limit max_connection_lifetime max_idle_connection_lifetime pgbouncer pool_timeout single_use_connections",
    "socket_timeout statement_cache_size",
    // node-postgres and its pool
    "allowExitOnIdle binary connectionTimeoutMillis encoding idle_in_transaction_session_timeout idleTimeoutMillis",
    "keepAlive keepAliveInitialDelayMillis lock_timeout max maxLifetimeSeconds maxUses min parseInputDatesAsUTC",
    "query_timeout statement_timeout uselibpqcompat",
    // postgres.js
    "backoff debug fetch_types idle_timeout keep_alive max_lifetime max_pipeline no_prepare prepare publications",
    // JDBC
    "adaptiveFetch allowEncodingChanges assumeMinServerVersion autosave binaryTransfer binaryTransferDisable",
    "binaryTransferEnable cancelSignalTimeout cleanupSavepoints databaseMetadataCacheFields",
    "databaseMetadataCacheFieldsMiB defaultRowFetchSize disableColumnSanitiser escapeSyntaxCallMode gssEncMode",
    "hostRecheckSeconds jaasLogin loadBalanceHosts loginTimeout logServerErrorDetail logUnclosedConnections",
    "maxResultBuffer preferQueryMode preparedStatementCacheQueries preparedStatementCacheSizeMiB prepareThreshold",
    "quoteReturningIdentifiers readOnly readOnlyMode receiveBufferSize reWriteBatchedInserts sendBufferSize",
    "socketFactory socketTimeout sslResponseTimeout sslfactory sslhostnameverifier stringtype targetServerType",
    "tcpKeepAlive tcpNoDelay unknownLength useSpnego",
    // pgx, sqlx, lib/pq, asyncpg and SQLAlchemy, Rails, Ecto, Django
    "advisory_locks async_fallback binary_parameters checkout_timeout command_timeout conn_max_age",
    "default_query_exec_mode description_cache_capacity max_overflow min_messages pool pool_health_check_period",
    "pool_max_conn_idle_time pool_max_conn_lifetime pool_max_conns pool_min_conns pool_recycle pool_size",
    "prepared_statement_cache_size prepared_statement_name_func prepared_statements reaping_frequency",
    "statement-cache-capacity statement_cache_capacity statement_cache_mode",
    // Settings of a session
    "DateStyle TimeZone datestyle extra_float_digits intervalstyle timezone",
    // Hosts: Neon, Supabase, Vercel
    "project supa workaround",
];

/// What narrows whom to trust or where to go: to ignore it would be wrong.
const REFUSED: &[&str] =
    &["passfile", "replication", "require_auth", "requirepeer", "service", "servicefile", "sslcrl", "sslcrldir"];

/// What a name stands for; `None` for one that is known and ignored.
pub(super) fn find(name: &str) -> Result<Option<Key>, Error> {
    if let Some((_, key)) = HONOURED.iter().find(|(known, _)| *known == name) {
        return Ok(Some(*key));
    }
    if ignored().any(|known| known == name) {
        return Ok(None);
    }
    if REFUSED.contains(&name) {
        return Err(Error::config("coordinator", format!("coordinator: the parameter {name} is not supported")));
    }
    let closest = known().map(|known| (distance(name, known), known)).min();
    let advice = match closest {
        Some((far, known)) if far <= 2 && far < name.len() => format!("; did you mean {known}?"),
        _ => String::new(),
    };
    Err(Error::config("coordinator", format!("coordinator: unknown parameter {}{advice}", shown(name))))
}

/// Every name that is not refused.
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    HONOURED.iter().map(|(name, _)| *name).chain(ignored())
}

fn ignored() -> impl Iterator<Item = &'static str> {
    IGNORED.iter().flat_map(|line| line.split(' '))
}

/// How many characters to add, drop or change, whatever their case.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.to_ascii_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, c) in one.to_ascii_lowercase().chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, d) in other.iter().enumerate() {
            let changed = diagonal + usize::from(c != *d);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

/// What was given, each at most once; what comes later counts.
#[derive(Default)]
pub(super) struct Parameters(BTreeMap<Key, Zeroizing<String>>);

impl Parameters {
    pub(super) fn set(&mut self, key: Key, value: Zeroizing<String>) {
        self.0.insert(key, value);
    }

    /// Unless it is there.
    pub(super) fn set_default(&mut self, key: Key, value: Zeroizing<String>) {
        self.0.entry(key).or_insert(value);
    }

    /// What was given, unless it is empty: an empty value is none, as in libpq.
    pub(super) fn get(&self, key: Key) -> Option<&str> {
        self.0.get(&key).map(|value| value.as_str()).filter(|value| !value.is_empty())
    }

    /// One of several words.
    pub(super) fn word<T: Copy>(&self, key: Key, words: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(found) = self.get(key) else { return Ok(None) };
        let meaning = words.iter().find(|(word, _)| *word == found).map(|(_, meaning)| *meaning);
        meaning.map(Some).ok_or_else(|| {
            let expected: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            wrong(key, &format!("one of {}", expected.join(", ")), found)
        })
    }

    /// A whole number. Less than nothing is nothing, as in libpq.
    pub(super) fn number(&self, key: Key) -> Result<Option<u32>, Error> {
        let Some(found) = self.get(key) else { return Ok(None) };
        let number: i64 = found.trim().parse().map_err(|_| wrong(key, "a whole number", found))?;
        u32::try_from(number.max(0)).map(Some).map_err(|_| wrong(key, "a number below 4294967296", found))
    }
}

/// The first spelling of a parameter.
pub(super) fn name(key: Key) -> &'static str {
    HONOURED.iter().find(|(_, known)| *known == key).map_or("?", |(name, _)| name)
}

/// About the value of one parameter. What could be a piece of a password is not shown.
pub(super) fn wrong(key: Key, expected: &str, found: &str) -> Error {
    let found = if found.contains(['@', ':', '/']) { "something else".to_owned() } else { shown(found) };
    Error::config("coordinator", format!("coordinator: {}: expected {expected}, found {found}", name(key)))
}
