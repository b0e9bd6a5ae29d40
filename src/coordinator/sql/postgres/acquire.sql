-- $1 namespace, $2 and $3 the first and last machine ID wanted, $4 random bytes, $5 ttl in ms, $6 layout, $7 the registry's ttl
-- in ms, $8 key fingerprint or null, $9 holder, $10 protocol, $11 durable
with registry as materialized (
  -- Locked first: whoever sees another incarnation waits for us, or we for them.
  select * from mintid_registry where namespace = $1 for share
), looked as materialized (
  select registry.*, clock_timestamp() as now, {identity} as found from registry
), judged as materialized (
  select looked.*, coalesce(found = incarnation, false) as same, coalesce(
    protocol <= $10 and layout = $6 and ttl_ms = $7 and durable = $11
      and ($8::bytea is null or $8 = any (fingerprints)), false) as agreed
  from looked
), candidate as materialized (
  select leases.id from mintid_leases leases{theirs join}, judged
  where same and agreed and not_before < now
    and leases.namespace = $1 and leases.id between $2 and $3 and leases.expires_at < now{theirs free}
  order by leases.expires_at, leases.id limit 1
  for update of leases{theirs lock} skip locked
), claimed as (
  update mintid_leases leases set
    token = $4 || int8send(floor(extract(epoch from now) * 1000)::int8 + 1),
    expires_at = now + $5 * interval '1 millisecond',
    lock_version = leases.lock_version + 1,
    holder = $9,
    acquired_at = now
  from candidate, judged
  where leases.namespace = $1 and leases.id = candidate.id
  returning leases.id, leases.token, leases.expires_at
){theirs claim}
select
  floor(extract(epoch from now) * 1000)::int8 as now_ms,
  ceil(extract(epoch from not_before) * 1000)::int8 as not_before_ms,
  not_before >= now as waiting,
  same, agreed, protocol, layout, ttl_ms, durable,
  array(select encode(key, 'hex') from unnest(fingerprints) as key) as fingerprints,
  claimed.id as machine,
  encode(claimed.token, 'hex') as token,
  floor(extract(epoch from claimed.expires_at) * 1000)::int8 as end_ms,
  (select count(*) from mintid_leases leases{theirs join}
   where leases.namespace = $1 and leases.id between $2 and $3 and (leases.expires_at >= now{theirs live})) as leased
from judged left join claimed on true
