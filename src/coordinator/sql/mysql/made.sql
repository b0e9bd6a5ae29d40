select count(*) = 2 as made from information_schema.tables made
where made.table_schema = {database} and made.table_name in ('mintid_registry', 'mintid_leases')
