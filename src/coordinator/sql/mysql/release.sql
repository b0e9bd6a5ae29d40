-- $1 namespace, $2 machine ID, $3 token, $4 the last moment used in ms since 1970
update mintid_leases set
  token = null,
  expires_at = greatest(utc_timestamp(6), cast('1970-01-01 00:00:00' as datetime(6)) + interval $4 * 1000 microsecond),
  lock_version = lock_version + 1
where namespace = $1 and id = $2 and token = $3
