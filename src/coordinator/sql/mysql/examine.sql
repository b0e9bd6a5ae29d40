select
  @@version as version,
  concat(@@version_comment, ' ', @@version) as full_version,
  cast(@@global.read_only as char) not in ('0', 'OFF') or cast(@@global.innodb_read_only as char) not in ('0', 'OFF') as read_only,
  @@global.innodb_flush_log_at_trx_commit as flush_log,
  @@global.log_bin as log_bin,
  @@global.sync_binlog as sync_binlog,
  @@session.binlog_format as binlog_format,
  @@global.time_zone as time_zone,
  @@global.system_time_zone as system_time_zone,
  @@global.max_connections as most_connections,
  (select variable_value from {status} started where started.variable_name = 'THREADS_CONNECTED') as connections,
  (select variable_value from {status} started where started.variable_name = 'UPTIME') is not null as tells_start,
  timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) div 1000 as now_ms
