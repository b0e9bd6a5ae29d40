-- $1 namespace
with registry as (
  select *, concat_ws('/', xmin, ctid) as edition from mintid_registry where namespace = $1 for update
)
select
  floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms,
  ceil(extract(epoch from not_before) * 1000)::int8 as not_before_ms,
  not_before >= clock_timestamp() as waiting,
  coalesce(incarnation = {identity}, false) as same,
  (select count(*) from mintid_leases leases where leases.namespace = $1) as rows,
  {version} as version,
  protocol, layout, ttl_ms, durable,
  array(select encode(key, 'hex') from unnest(fingerprints) as key) as fingerprints
from registry
