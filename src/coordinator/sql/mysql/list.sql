-- $1 namespace
select id, holder,
  timestampdiff(microsecond, '1970-01-01 00:00:00', acquired_at) div 1000 as acquired_ms,
  timestampdiff(microsecond, '1970-01-01 00:00:00', expires_at) div 1000 as end_ms,
  expires_at >= utc_timestamp(6) as live
from mintid_leases where namespace = $1 order by id
