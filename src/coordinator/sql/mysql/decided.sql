-- What becomes of a lease: $1 namespace, $2 machine ID, $3 token, $4 ttl in ms, $5 the last confirmed end in ms since 1970, $6
-- margin in ms
select judged.*,
  judged.ours and judged.expires_at >= judged.confirmed{theirs ours} as remembered,
  case
    when not (judged.same and judged.fit and judged.settled and judged.present) then null
    -- Alive, and nothing of it forgotten.
    when judged.ours and judged.expires_at >= judged.confirmed{theirs ours}
        and judged.expires_at >= case when judged.moment <= judged.not_before then judged.later else judged.moment end
      then greatest(judged.expires_at, judged.wanted)
    -- Put back what the registry forgot, unless another's use of this machine ID is not over.
    when judged.moment < judged.not_before and judged.confirmed > judged.later
        and (judged.ours or judged.expires_at < judged.moment){theirs other}
      then greatest(judged.wanted, judged.confirmed)
  end as new_end
from (
  select looked.*,
    cast('1970-01-01 00:00:00' as datetime(6)) + interval $5 * 1000 microsecond as confirmed,
    looked.moment + interval $6 * 1000 microsecond as later,
    looked.moment + interval $4 * 1000 microsecond as wanted,
    coalesce(looked.token = $3, false) as ours
  from (
    -- Both locks are held when the clock is read.
    select registry.not_before, own.token, own.expires_at, own.id is not null{theirs present} as present,{theirs view} sysdate(6) as moment,
      coalesce(registry.incarnation = {identity}, false) as same,
      {fit} as fit,
      {settled} as settled
    from (select * from mintid_registry where namespace = $1 limit 1 lock in share mode) registry
    left join (
      select id, token, expires_at from mintid_leases where namespace = $1 and id = $2 limit 1 for update
    ) own on true{theirs own}
    limit 1
  ) looked
) judged
limit 1
