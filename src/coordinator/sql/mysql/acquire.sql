-- $1 namespace, $2 and $3 the first and last machine ID wanted, $4 random bytes, $5 ttl in ms, $6 layout, $7 the registry's ttl
-- in ms, $8 key fingerprint or null, $9 holder, $10 protocol, $11 durable
-- Its answer is one row written and, as the insert ID, the time it went by in ms since 1970 and the machine ID: ms << 16 | ID.
update (
  select candidate.id, judged.moment,
    timestampdiff(microsecond, '1970-01-01 00:00:00', judged.moment) div 1000 as moment_ms
  from ({judged}) judged
  straight_join (
    select leases.id, leases.expires_at{theirs end} from mintid_leases leases force index (mintid_leases_free){theirs join}
    where leases.namespace = $1 and leases.id between $2 and $3
      and leases.expires_at < utc_timestamp(6){theirs free}
    order by leases.expires_at, leases.id limit 1
    for update skip locked
  ) candidate
  where judged.same and judged.agreed and judged.fit and judged.settled
    and judged.not_before < judged.moment
    and candidate.expires_at < judged.moment{theirs still free}
  limit 1
) claimed
straight_join mintid_leases leases on leases.namespace = $1 and leases.id = claimed.id{theirs too}
set
  leases.token = concat($4, unhex(lpad(hex(claimed.moment_ms + 1), 16, '0'))),
  leases.expires_at = claimed.moment + interval $5 * 1000 microsecond,
  leases.lock_version = leases.lock_version + 1 + 0 * last_insert_id(claimed.moment_ms << 16 | leases.id),
  leases.holder = $9,
  leases.acquired_at = claimed.moment{theirs claim}
