-- $1 namespace, $2 and $3 the first and last machine ID wanted, $4 the random bytes of a claim's token. What it claimed.
select id, hex(token) as token,
  timestampdiff(microsecond, '1970-01-01 00:00:00', expires_at) div 1000 as end_ms
from mintid_leases
where namespace = $1 and id between $2 and $3 and left(token, 8) = $4
