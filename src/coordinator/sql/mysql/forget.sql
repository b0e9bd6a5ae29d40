-- $1 namespace
update mintid_registry set layout = null, ttl_ms = null, durable = null, fingerprints = '' where namespace = $1
