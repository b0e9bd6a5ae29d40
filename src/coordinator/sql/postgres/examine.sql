-- $1 schema
with tables as (
  select count(*) = 3 as made,
    coalesce(bool_and(has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
      and has_table_privilege(oid, 'update')), false) as usable
  from unnest(array[to_regclass('mintid_registry'), to_regclass('mintid_leases'), to_regclass('mintid_incarnation')]) as oid
  where oid is not null
)
select
  current_setting('server_version') as version,
  version() as full_version,
  pg_is_in_recovery() as standby,
  current_setting('default_transaction_read_only') = 'on' as read_only,
  current_setting('fsync') as fsync,
  current_setting('synchronous_commit') as synchronous_commit,
  current_setting('TimeZone') as time_zone,
  current_setting('max_connections')::int4 as most_connections,
  (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
  floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms,
  made,
  made and usable as may_use,
  coalesce((select has_schema_privilege(n.oid, 'create') from pg_namespace n where n.nspname = $1), false) as may_create
from tables
