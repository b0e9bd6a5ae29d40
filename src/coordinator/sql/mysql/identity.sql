-- What changes when this registry may have forgotten something: another server, or another table of that name; a restart,
-- which may have lost the last commits, and which a restored copy begins with.
concat({server}, '/',
  (select timestampdiff(second, '1970-01-01 00:00:00', made.create_time) from information_schema.tables made
   where made.table_schema = {database} and made.table_name = 'mintid_leases'), '/',
  case when registry.durable then 'durable' else unix_timestamp() - (
    select started.variable_value from {status} started where started.variable_name = 'UPTIME') end)
