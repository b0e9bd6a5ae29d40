-- Why there was nothing to acquire, with its parameters.
select
  timestampdiff(microsecond, '1970-01-01 00:00:00', moment) div 1000 as now_ms,
  (timestampdiff(microsecond, '1970-01-01 00:00:00', not_before) + 999) div 1000 as not_before_ms,
  not_before >= moment as waiting,
  same, agreed, fit, settled, protocol, layout, ttl_ms, durable, fingerprints,
  (select count(*) from mintid_leases where namespace = $1 and id between $2 and $3) as known,
  (select count(*) from mintid_leases leases{theirs beside}
   where leases.namespace = $1 and leases.id between $2 and $3
     and (leases.expires_at >= moment{theirs live})) as leased
from ({judged}) judged
