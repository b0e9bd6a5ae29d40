//! The names of parameters: ours, and those that other clients leave in the same URL or object.

use crate::coordinator::address::parameters::Names;

/// A parameter that is honoured.
#[expect(clippy::enum_variant_names, reason = "ssl_keyfile is a key")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Host,
    Port,
    Path,
    Nodes,
    Sentinels,
    User,
    Password,
    Database,
    Name,
    SentinelUser,
    SentinelPassword,
    SentinelTls,
    Cluster,
    ClientName,
    ConnectTimeout,
    Replicas,
    Registry,
    Tls,
    VerifyPeer,
    SkipVerify,
    SslCertReqs,
    SslCheckHostname,
    SslCa,
    SslCert,
    SslKey,
}

impl Names for Key {
    const HONOURED: &[(&str, Self)] = &[
        ("host", Self::Host),
        ("port", Self::Port),
        ("path", Self::Path),
        ("nodes", Self::Nodes),
        ("rootNodes", Self::Nodes),
        ("sentinels", Self::Sentinels),
        ("sentinelRootNodes", Self::Sentinels),
        ("username", Self::User),
        ("user", Self::User),
        ("password", Self::Password),
        ("db", Self::Database),
        ("database", Self::Database),
        ("name", Self::Name),
        ("sentinelMasterId", Self::Name),
        ("master_name", Self::Name),
        ("service_name", Self::Name),
        ("sentinelUsername", Self::SentinelUser),
        ("sentinel_username", Self::SentinelUser),
        ("sentinelPassword", Self::SentinelPassword),
        ("sentinel_password", Self::SentinelPassword),
        ("sentinelTls", Self::SentinelTls),
        ("enableTLSForSentinelMode", Self::SentinelTls),
        ("cluster", Self::Cluster),
        ("connectionName", Self::ClientName),
        ("clientName", Self::ClientName),
        ("client_name", Self::ClientName),
        ("connectTimeout", Self::ConnectTimeout),
        ("replicas", Self::Replicas),
        ("registry", Self::Registry),
        ("tls", Self::Tls),
        ("ssl", Self::Tls),
        ("verifyPeer", Self::VerifyPeer),
        ("skip_verify", Self::SkipVerify),
        ("ssl_cert_reqs", Self::SslCertReqs),
        ("ssl_check_hostname", Self::SslCheckHostname),
        ("ssl_ca_certs", Self::SslCa),
        ("ssl_certfile", Self::SslCert),
        ("ssl_keyfile", Self::SslKey),
    ];

    const IGNORED: &[&str] = &[
        // ioredis
        "autoResendUnfulfilledCommands autoResubscribe blockingTimeout commandTimeout connectionTimeout",
        "disableClientInfo enableAutoPipelining enableOfflineQueue enableReadyCheck failoverDetector family keepAlive",
        "lazyConnect maxLoadingRetryTime maxRetriesPerRequest noDelay readOnly reconnectOnError retryStrategy",
        "scaleReads sentinelCommandTimeout sentinelMaxConnections sentinelReconnectStrategy sentinelRetryStrategy",
        "showFriendlyErrorStack slotsRefreshInterval slotsRefreshTimeout socketTimeout stringNumbers updateSentinels",
        // node-redis
        "RESP commandsQueueMaxLength disableOfflineQueue legacyMode maxCommandRedirections minimizeConnections",
        "pingInterval readonly reconnectStrategy useReplicas",
        // redis-py and what stands on it
        "decode_responses encoding encoding_errors health_check_interval lib_name lib_version max_connections",
        "protocol retry_on_error retry_on_timeout socket_connect_timeout socket_keepalive socket_timeout",
        "ssl_min_version timeout virtual_host visibility_timeout",
        // go-redis
        "conn_max_idle_time conn_max_lifetime dial_timeout idle_check_frequency idle_timeout max_active_conns",
        "max_conn_age max_idle_conns max_redirects max_retries max_retry_backoff min_idle_conns min_retry_backoff",
        "pool_fifo pool_size pool_timeout read_only read_timeout route_by_latency route_randomly write_timeout",
        // Lettuce
        "libraryName libraryVersion startTls",
        // Heroku, Railway, Upstash, Prisma's and Rails' habits
        "abortConnect connection_limit pool",
    ];

    /// What would change our key, where to go, or whom to trust.
    const REFUSED: &[&str] = &[
        "addr",
        "dnsLookup",
        "keyPrefix",
        "key_prefix",
        "natMap",
        "nodeAddressMap",
        "preferredSlaves",
        "prefix",
        "role",
        "ssl_ca_data",
        "ssl_ca_path",
    ];
}
