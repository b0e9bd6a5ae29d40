-- $1 namespace, $2 how many machine IDs, at most 32768
insert into mintid_leases (namespace, id, expires_at)
with digits as (
  select 0 as digit union all select 1 union all select 2 union all select 3 union all select 4 union all select 5
  union all select 6 union all select 7
)
select $1, ids.id, '1970-01-01 00:00:00'
from (
  select a.digit * 4096 + b.digit * 512 + c.digit * 64 + d.digit * 8 + e.digit as id
  from digits a join digits b join digits c join digits d join digits e
) ids
left join mintid_leases leases on leases.namespace = $1 and leases.id = ids.id
where ids.id < $2 and leases.id is null
