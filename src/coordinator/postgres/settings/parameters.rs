//! The names of parameters: ours, which are libpq's, and those that other drivers leave in the same URL.

use crate::coordinator::address::parameters::Names;

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
    Registry,
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
    ("registry", Key::Registry),
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

impl Names for Key {
    const HONOURED: &[(&str, Self)] = HONOURED;
    const IGNORED: &[&str] = IGNORED;
    const REFUSED: &[&str] = REFUSED;
}
