-- $1 namespace
select id, holder,
  floor(extract(epoch from acquired_at) * 1000)::int8 as acquired_ms,
  floor(extract(epoch from expires_at) * 1000)::int8 as end_ms,
  expires_at >= clock_timestamp() as live
from mintid_leases where namespace = $1 order by id
