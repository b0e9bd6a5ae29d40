-- Why there was nothing to renew, with its parameters.
select same, fit, settled,
  new_end is not null as alive,
  -- An end that was confirmed is not in the registry any more: it forgot.
  not remembered and confirmed > moment{theirs other} as forgot,
  moment <= not_before as waiting
from ({decided}) decided
