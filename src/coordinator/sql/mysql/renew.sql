-- The parameters of what is decided. The insert ID is as after an acquire.
update ({decided}) decided
straight_join mintid_leases leases on leases.namespace = $1 and leases.id = $2 and decided.new_end is not null{theirs too}
set
  leases.token = $3,
  leases.expires_at = decided.new_end,
  leases.lock_version = leases.lock_version + 1 + 0 * last_insert_id(
    timestampdiff(microsecond, '1970-01-01 00:00:00', decided.moment) div 1000 << 16 | leases.id){theirs keep}
