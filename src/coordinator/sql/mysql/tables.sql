create table if not exists mintid_registry (
  namespace varchar(255) not null primary key,
  protocol int not null,
  layout varchar(64),
  ttl_ms bigint,
  durable boolean,
  fingerprints varbinary(4096) not null default '',
  incarnation varchar(255),
  not_before datetime(6) not null default '1970-01-01 00:00:00'
) engine=InnoDB default character set utf8mb4 collate utf8mb4_bin;
create table if not exists mintid_leases (
  namespace varchar(255) not null,
  id int not null,
  token binary(16),
  expires_at datetime(6) not null,
  lock_version bigint not null default 0,
  holder varchar(255),
  acquired_at datetime(6),
  primary key (namespace, id),
  key mintid_leases_free (namespace, expires_at, id)
) engine=InnoDB default character set utf8mb4 collate utf8mb4_bin;
