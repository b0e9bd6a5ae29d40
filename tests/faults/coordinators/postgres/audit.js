'use strict'

/**
 * What a superuser installs in a database so that every change of a lease is known, without mintid's knowledge:
 *
 * - a trigger on each table `mintid_leases`, put there by an event trigger as soon as one is created, also when mintid
 *   makes it again after somebody dropped it;
 * - it writes into a table (what was committed) and into the server's log (what was granted, even if the database
 *   forgets it afterwards).
 */
const INSTALL = `
create schema faults;
create table faults.changes (
  transaction bigint not null,
  at timestamptz not null,
  namespace text not null,
  id integer not null,
  token bytea not null,
  expires_at timestamptz not null,
  released boolean not null
);
create function faults.record() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
declare
  whose bytea := coalesce(new.token, old.token);
  released boolean := new.token is null;
begin
  if whose is null then return null; end if;
  insert into faults.changes
  values (txid_current(), clock_timestamp(), new.namespace, new.id, whose, new.expires_at, released);
  raise log 'FAULTS %', json_build_object(
    'transaction', txid_current(), 'at', extract(epoch from clock_timestamp()) * 1000,
    'namespace', new.namespace, 'id', new.id, 'token', encode(whose, 'hex'),
    'expires', extract(epoch from new.expires_at) * 1000, 'released', released);
  return null;
end $$;
create function faults.watch() returns event_trigger language plpgsql security definer set search_path = pg_catalog as $$
declare made record;
begin
  for made in
    select objid::regclass as name from pg_event_trigger_ddl_commands()
    where object_type = 'table' and object_identity ~ '\\.mintid_leases$'
  loop
    execute format('create or replace trigger faults after insert or update on %s for each row execute function faults.record()',
      made.name);
  end loop;
end $$;
create event trigger faults on ddl_command_end when tag in ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO')
  execute function faults.watch();
alter event trigger faults enable always;`

const COMMITTED = `
select json_build_object('transaction', transaction, 'at', extract(epoch from at) * 1000, 'namespace', namespace, 'id', id,
  'token', encode(token, 'hex'), 'expires', extract(epoch from expires_at) * 1000, 'released', released)
from faults.changes order by at`

/** The changes that stand in a server's log. */
function changesIn(log) {
  const lines = log.matchAll(/FAULTS (\{.*\})/g)
  return [...lines].map(([, json]) => JSON.parse(json))
}

module.exports = { COMMITTED, INSTALL, changesIn }
