-- $1 namespace, $2 machine ID, $3 token, $4 ttl in ms, $5 the last confirmed end in ms since 1970, $6 margin in ms
with registry as materialized (
  select * from mintid_registry where namespace = $1 for share
), own as materialized (
  select id, token, expires_at from mintid_leases where namespace = $1 and id = $2 for update
){theirs own}, looked as materialized (
  -- Both locks are held when the clock is read.
  select registry.incarnation, registry.not_before, {identity} as found,
    own.token, own.expires_at, own.id is not null as present, {theirs view} as view,
    clock_timestamp() as now
  from registry left join own on true{theirs beside}
), judged as materialized (
  select looked.*,
    coalesce(found = incarnation, false) as same,
    'epoch'::timestamptz + $5 * interval '1 millisecond' as confirmed,
    now + $6 * interval '1 millisecond' as later,
    now + $4 * interval '1 millisecond' as wanted,
    coalesce(token = $3, false) as ours
  from looked
), decided as materialized (
  select judged.*,
    ours and expires_at >= confirmed and view = 'ours' as remembered,
    case
      when not same or not present then null
      -- Alive, and nothing of it forgotten.
      when ours and expires_at >= confirmed and view = 'ours' and expires_at >= case when now <= not_before then later else now end
        then greatest(expires_at, wanted)
      -- Put back what the registry forgot, unless another's use of this machine ID is not over.
      when now < not_before and confirmed > later and (ours or expires_at < now) and view <> 'other'
        then greatest(wanted, confirmed)
    end as until
  from judged
), kept as (
  update mintid_leases leases set token = $3, expires_at = until, lock_version = leases.lock_version + 1
  from decided
  where leases.namespace = $1 and leases.id = $2 and until is not null
  returning leases.expires_at
){theirs keep}
select
  floor(extract(epoch from now) * 1000)::int8 as now_ms,
  floor(extract(epoch from kept.expires_at) * 1000)::int8 as end_ms,
  same,
  -- An end that was confirmed is not in the registry any more: it forgot.
  not remembered and confirmed > now and view <> 'other' as forgot,
  now <= not_before as waiting
from decided left join kept on true
