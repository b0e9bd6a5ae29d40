-- $1 namespace, $2 how many machine IDs
insert into mintid_leases (namespace, id, expires_at)
select $1, id, 'epoch' from generate_series(0, $2 - 1) as id
on conflict (namespace, id) do nothing
