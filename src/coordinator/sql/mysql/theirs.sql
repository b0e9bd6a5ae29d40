-- Whether their table is there, as far as this user sees; and whether the time zone of sessions that say nothing is UTC, in
-- winter and in summer.
select
  (select count(*) from information_schema.tables theirs
   where theirs.table_schema = {database} and theirs.table_name = {theirs name}) as there,
  coalesce(convert_tz('2026-01-01 12:00:00', @@global.time_zone, '+00:00') = '2026-01-01 12:00:00'
    and convert_tz('2026-07-01 12:00:00', @@global.time_zone, '+00:00') = '2026-07-01 12:00:00', false) as utc,
  case @@global.time_zone when 'SYSTEM' then @@global.system_time_zone else @@global.time_zone end as zone
