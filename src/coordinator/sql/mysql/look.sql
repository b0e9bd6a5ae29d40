-- $1 namespace
select looked.protocol, looked.layout, looked.ttl_ms, looked.durable, looked.fingerprints, looked.same, looked.fit,
  timestampdiff(microsecond, '1970-01-01 00:00:00', looked.moment) div 1000 as now_ms,
  (timestampdiff(microsecond, '1970-01-01 00:00:00', looked.not_before) + 999) div 1000 as not_before_ms,
  looked.not_before >= looked.moment as waiting,
  looked.incarnation,
  (select count(*) from mintid_leases where namespace = $1) as known
from ({registry}) looked
