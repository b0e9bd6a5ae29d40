-- $1 namespace, $2 how long nothing new is granted, in ms; 0: as long as before; null: not a moment longer
update mintid_registry registry set
  incarnation = {identity},
  not_before = case when $2::int8 is null then 'epoch'
    else greatest(not_before, case when $2 > 0 then clock_timestamp() + $2 * interval '1 millisecond' end) end
where namespace = $1
