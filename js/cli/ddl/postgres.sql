do $mintid$
declare
  mark constant text := '{mark}';
  found constant oid := to_regclass('{sequence}');
  other text;
begin
  select format('%I.%I', n.nspname, c.relname) into other
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'S' and obj_description(c.oid, 'pg_class') = mark and c.oid is distinct from found;
  if other is not null then
    raise exception 'this database mints under machine ID {machine} already, from %: use that', other;
  elsif found is null then
    execute format('create sequence {sequence} minvalue 0 maxvalue {last} start with %s no cycle', {floor});
    comment on sequence {sequence} is '{mark}';
  elsif obj_description(found, 'pg_class') is distinct from mark then
    raise exception '{sequence} is there already, and was not made for this layout';
  end if;
end $mintid$

create or replace function {function}() returns {type} language plpgsql volatile as $mintid$
declare
  v constant bigint := nextval('{sequence}');
  id constant bigint := ((v >> {bits}) << {shift}) | {constant} | (v & {mask});
begin
  return {result};
end $mintid$

alter table {table} alter column {column} set default {function}()
