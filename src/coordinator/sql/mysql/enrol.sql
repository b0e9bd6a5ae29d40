-- $1 namespace, $2 layout or null, $3 ttl in ms or null, $4 durable or null, $5 key fingerprint or null
update mintid_registry set
  layout = coalesce(layout, $2),
  ttl_ms = coalesce(ttl_ms, $3),
  durable = coalesce(durable, $4),
  fingerprints = case when $5 is null or fingerprints <> '' then fingerprints else $5 end
where namespace = $1
