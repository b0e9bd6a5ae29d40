select to_regclass('{theirs}') is not null as there, (select reset_val from pg_settings where name = 'TimeZone') as zone
