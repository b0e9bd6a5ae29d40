-- $1 namespace, $2 a new random text
insert into mintid_incarnation (namespace, boot) values ($1, $2)
on conflict (namespace) do update set boot = excluded.boot
