create table if not exists mintid_registry (
  namespace text primary key,
  protocol integer not null,
  layout text,
  ttl_ms bigint,
  durable boolean,
  fingerprints bytea[] not null default '{}',
  incarnation text,
  not_before timestamptz not null default 'epoch'
);
create table if not exists mintid_leases (
  namespace text not null,
  id integer not null,
  token bytea,
  expires_at timestamptz not null,
  lock_version bigint not null default 0,
  holder text,
  acquired_at timestamptz,
  primary key (namespace, id)
);
create unlogged table if not exists mintid_incarnation (
  namespace text primary key,
  boot text not null
);
