-- $1 namespace, $2 machine ID, $3 token, $4 the last moment used in ms since 1970
with released as (
  update mintid_leases set
    token = null,
    expires_at = greatest(clock_timestamp(), 'epoch'::timestamptz + $4 * interval '1 millisecond'),
    lock_version = lock_version + 1
  where namespace = $1 and id = $2 and token = $3
  returning expires_at
){theirs release}
select count(*) from released
