-- $1 namespace, $2 protocol, $3 layout or null, $4 ttl in ms or null, $5 durable or null, $6 key fingerprint or null
insert into mintid_registry as registry (namespace, protocol, layout, ttl_ms, durable, fingerprints)
values ($1, $2, $3, $4, $5, case when $6::bytea is null then '{}' else array[$6] end)
on conflict (namespace) do update set
  layout = coalesce(registry.layout, excluded.layout),
  ttl_ms = coalesce(registry.ttl_ms, excluded.ttl_ms),
  durable = coalesce(registry.durable, excluded.durable),
  fingerprints = case
    when $6::bytea is null or $6 = any (registry.fingerprints) then registry.fingerprints
    when cardinality(registry.fingerprints) = 0 then array[$6]
    else registry.fingerprints
  end
