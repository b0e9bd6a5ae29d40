-- $1 namespace. Locked first: whoever sees another incarnation waits for us, or we for them. Each `limit` has the part before
-- it read as a whole: the clock once, and after its lock.
select registry.*, sysdate(6) as moment,
  coalesce(registry.incarnation = {identity}, false) as same,
  {fit} as fit,
  {settled} as settled
from (select * from mintid_registry where namespace = $1 limit 1 lock in share mode) registry
limit 1
