-- $1 how the comments of our sequences begin
select c.oid::int8 as oid, format('%I.%I', n.nspname, c.relname) as name, obj_description(c.oid, 'pg_class') as comment
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'S' and starts_with(obj_description(c.oid, 'pg_class'), $1)
order by n.nspname, c.relname
