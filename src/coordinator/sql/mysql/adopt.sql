-- $1 namespace, $2 how long nothing new is granted, in ms; 0: as long as before, if it still is the incarnation $3; null: not a
-- moment longer
update mintid_registry registry set
  registry.incarnation = {identity},
  registry.not_before = case
    when $2 is null then '1970-01-01 00:00:00'
    when $2 > 0 then greatest(registry.not_before, sysdate(6) + interval $2 * 1000 microsecond)
    else registry.not_before
  end
where registry.namespace = $1 and (coalesce($2, 1) <> 0 or registry.incarnation <=> $3)
