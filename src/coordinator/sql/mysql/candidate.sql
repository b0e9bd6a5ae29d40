-- The registry as whoever wants a machine ID sees it: $1 namespace, $6 layout, $7 the registry's ttl in ms, $8 key fingerprint or
-- null, $10 protocol, $11 durable
select looked.*, coalesce(
  looked.protocol <= $10 and looked.layout = $6 and looked.ttl_ms = $7 and looked.durable = $11
    and ($8 is null or locate($8, looked.fingerprints) % 16 = 1), false) as agreed
from ({registry}) looked
limit 1
