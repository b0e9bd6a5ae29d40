-- What changes when this registry may have forgotten something: another cluster, database or table, or another file of the
-- table's; a restart; and the unlogged row, which a crash and a promotion empty.
concat_ws('/',
  (select system_identifier from pg_control_system()),
  (select d.oid from pg_database d where d.datname = current_database()),
  (select l.tableoid from mintid_leases l limit 1),
  (select pg_relation_filenode(l.tableoid) from mintid_leases l limit 1),
  case when registry.durable then 'durable' else concat_ws('/',
    floor(extract(epoch from pg_postmaster_start_time()) * 1000000)::int8,
    coalesce((select i.boot from mintid_incarnation i where i.namespace = registry.namespace), 'gone'))
  end)
