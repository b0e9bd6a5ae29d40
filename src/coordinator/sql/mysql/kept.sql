-- What there is after a renewal, with its parameters.
select same, fit, settled,
  ours and expires_at >= confirmed as kept,
  new_end is not null as alive,
  not remembered and confirmed > moment{theirs other} as forgot,
  moment <= not_before as waiting,
  timestampdiff(microsecond, '1970-01-01 00:00:00', moment) div 1000 as now_ms,
  timestampdiff(microsecond, '1970-01-01 00:00:00', expires_at) div 1000 as end_ms
from ({decided}) decided
