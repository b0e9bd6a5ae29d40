//! The names of parameters: ours, and those that other clients leave in the same URL or object.

use crate::coordinator::address::parameters::Names;

/// A parameter that is honoured.
#[expect(clippy::enum_variant_names, reason = "ssl-key is a key")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Host,
    Port,
    Socket,
    User,
    Password,
    Database,
    Registry,
    ConnectTimeoutMillis,
    ConnectTimeoutSeconds,
    MayTakeKey,
    /// MySQL's own word for it.
    SslMode,
    /// mysql2, MariaDB's connector, and `tls` of the one for Go.
    Ssl,
    /// JDBC.
    UseSsl,
    RequireSsl,
    /// Prisma.
    SslAccept,
    VerifyServer,
    VerifyIdentity,
    TrustServer,
    SslCa,
    SslCert,
    /// In a URL of Prisma's, a root.
    SslCertOrRoot,
    SslKey,
    TlsVersion,
}

impl Names for Key {
    const HONOURED: &[(&str, Self)] = &[
        ("host", Self::Host),
        ("hostname", Self::Host),
        ("port", Self::Port),
        ("socket", Self::Socket),
        ("socketPath", Self::Socket),
        ("unix_socket", Self::Socket),
        ("localSocket", Self::Socket),
        ("user", Self::User),
        ("username", Self::User),
        ("password", Self::Password),
        ("database", Self::Database),
        ("db", Self::Database),
        ("registry", Self::Registry),
        ("connectTimeout", Self::ConnectTimeoutMillis),
        ("connect_timeout", Self::ConnectTimeoutSeconds),
        ("connect-timeout", Self::ConnectTimeoutSeconds),
        ("allowPublicKeyRetrieval", Self::MayTakeKey),
        ("get-server-public-key", Self::MayTakeKey),
        ("ssl-mode", Self::SslMode),
        ("ssl_mode", Self::SslMode),
        ("sslMode", Self::SslMode),
        ("sslmode", Self::SslMode),
        ("ssl", Self::Ssl),
        ("tls", Self::Ssl),
        ("useSSL", Self::UseSsl),
        ("useSsl", Self::UseSsl),
        ("requireSSL", Self::RequireSsl),
        ("sslaccept", Self::SslAccept),
        ("verifyServerCertificate", Self::VerifyServer),
        ("ssl-verify-server-cert", Self::VerifyServer),
        ("ssl_verify_cert", Self::VerifyServer),
        ("ssl_verify_identity", Self::VerifyIdentity),
        ("ssl_check_hostname", Self::VerifyIdentity),
        ("trustServerCertificate", Self::TrustServer),
        ("ssl-ca", Self::SslCa),
        ("ssl_ca", Self::SslCa),
        ("sslca", Self::SslCa),
        ("serverSslCert", Self::SslCa),
        ("ssl-cert", Self::SslCert),
        ("ssl_cert", Self::SslCert),
        ("sslcert", Self::SslCertOrRoot),
        ("ssl-key", Self::SslKey),
        ("ssl_key", Self::SslKey),
        ("sslkey", Self::SslKey),
        ("tls-version", Self::TlsVersion),
        ("tls_version", Self::TlsVersion),
        ("tlsVersions", Self::TlsVersion),
        ("enabledTLSProtocols", Self::TlsVersion),
        ("enabledSslProtocolSuites", Self::TlsVersion),
    ];

    const IGNORED: &[&str] = &[
        // mysql2, and mysql before it
        "bigNumberStrings charset compress connectionLimit dateStrings debug decimalNumbers disableEval enableKeepAlive",
        "flags gracefulEnd idleTimeout insecureAuth jsonStrings keepAliveInitialDelay maxIdle maxPreparedStatements",
        "multipleStatements namedPlaceholders nestTables queueLimit rowsAsArray stringifyObjects supportBigNumbers",
        "timezone trace typeCast waitForConnections",
        // MariaDB's connector for Node.js
        "acquireTimeout autoJsonMap bigIntAsNumber bitOneIsBoolean bulk checkDuplicate checkNumberRange collation",
        "decimalAsNumber foundRows initSql initializationTimeout insertIdAsNumber keepEof leakDetectionTimeout logPackets",
        "maxAllowedPacket metaAsArray minDelayValidation minimumIdle permitLocalInfile permitSetMultiParamEntries",
        "pingTimeout pipelining prepareCacheLength queryTimeout resetAfterUse sessionVariables socketTimeout",
        // Prisma
        "connection_limit max_connection_lifetime max_idle_connection_lifetime pool_timeout socket_timeout sslpassword",
        "statement_cache_size",
        // JDBC, of both
        "allowLoadLocalInfile allowLocalInfile allowMultiQueries allowUrlInLocalInfile alwaysSendSetIsolation autoReconnect",
        "autoReconnectForPools autocommit cacheCallableStmts cachePrepStmts cacheResultSetMetadata",
        "cacheServerConfiguration callableStmtCacheSize characterEncoding characterSetResults connectionAttributes",
        "connectionCollation connectionTimeZone createDatabaseIfNotExist databaseTerm defaultFetchSize dontTrackOpenResources",
        "dumpQueriesOnException elideSetAutoCommits failOverReadOnly forceConnectionTimeZoneToSession gatherPerfMetrics",
        "holdResultsOpenOverStatementClose initialTimeout interactiveClient jdbcCompliantTruncation loadBalanceStrategy",
        "logger maintainTimeStats maxIdleTime maxPoolSize maxReconnects metadataCacheSize minPoolSize noAccessToProcedureBodies",
        "nullCatalogMeansCurrent nullDatabaseMeansCurrent pool poolName poolValidMinDelay prepStmtCacheSize",
        "prepStmtCacheSqlLimit preserveInstants profileSQL queriesBeforeRetrySource readOnlyPropagatesToServer",
        "reconnectAtTxEnd retriesAllDown rewriteBatchedStatements rollbackOnPooledClose secondsBeforeRetrySource",
        "sendFractionalSeconds serverTimezone socketFactory tcpKeepAlive tcpNoDelay tcpRcvBuf tcpSndBuf tinyInt1isBit",
        "transactionReplay transformedBitIsBoolean useAffectedRows useBatchMultiSend useBulkStmts useCompression",
        "useCursorFetch useInformationSchema useJDBCCompliantTimezoneShift useLegacyDatetimeCode useLocalSessionState",
        "useLocalTransactionState useMysqlMetadata useReadAheadInput useResetConnection useServerPrepStmts useTimezone",
        "useUnicode useUsageAdvisor validConnectionTimeout yearIsDateType zeroDateTimeBehavior",
        // Go
        "allowAllFiles allowCleartextPasswords allowFallbackToPlaintext allowNativePasswords allowOldPasswords",
        "checkConnLiveness clientFoundRows columnsWithAlias interpolateParams loc multiStatements parseTime readTimeout",
        "rejectReadOnly timeTruncate timeout writeTimeout",
        // Python and what stands on it
        "auth_plugin binary_prefix buffered charset_collation client_flag conv init_command local_infile max_overflow",
        "pool_name pool_recycle pool_size program_name raise_on_warnings read_timeout sql_mode use_pure use_unicode",
        "write_timeout",
        // Rails, Ecto, sqlx, Drupal, ClearDB
        "adapter checkout_timeout encoding idle_timeout prepared_statements reaping_frequency",
        "reconnect statement-cache-capacity strict wait_timeout",
    ];

    /// What would change where to go, as whom, or whom to trust: to ignore it would be wrong.
    const REFUSED: &[&str] = &[
        "cachingRsaPublicKey",
        "clientCertificateKeyStorePassword",
        "clientCertificateKeyStoreUrl",
        "credentialType",
        "defaultsFile",
        "dnsSrv",
        "keyStore",
        "option_files",
        "password2",
        "password3",
        "passwordSha1",
        "read_default_file",
        "read_default_group",
        "restrictedAuth",
        "rsaPublicKey",
        "server-public-key-path",
        "serverPubKey",
        "serverRSAPublicKeyFile",
        "ssl-capath",
        "ssl-crl",
        "ssl-crlpath",
        "ssl_capath",
        "ssl_crl",
        "sslidentity",
        "trustCertificateKeyStorePassword",
        "trustCertificateKeyStoreUrl",
        "trustStore",
    ];
}
