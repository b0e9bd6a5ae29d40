-- $1 the table's name, as to_regclass takes it, $2 the schema wanted or null
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
  to_regclass($1) is not null as made,
  coalesce(has_schema_privilege(coalesce($2, current_schema()), 'create'), false) as may_create,
  case when to_regclass($1) is null then false
    else has_table_privilege(to_regclass($1), 'select, insert, update') end as may_use
