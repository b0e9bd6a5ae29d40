-- $1 namespace, $2 how long nothing new is granted, in ms; null: not a moment, and what was to be waited for is over
update mintid_registry registry set
  incarnation = {identity},
  not_before = case when $2::int8 is null then 'epoch'
    else greatest(not_before, clock_timestamp() + $2 * interval '1 millisecond') end
where namespace = $1
