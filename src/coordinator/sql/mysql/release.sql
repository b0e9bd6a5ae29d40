-- $1 namespace, $2 machine ID, $3 token, $4 the last moment used in ms since 1970
update mintid_leases leases{theirs held} set
  leases.token = null,
  leases.expires_at = greatest(utc_timestamp(6), cast('1970-01-01 00:00:00' as datetime(6)) + interval $4 * 1000 microsecond),
  leases.lock_version = leases.lock_version + 1{theirs release}
where leases.namespace = $1 and leases.id = $2 and leases.token = $3
