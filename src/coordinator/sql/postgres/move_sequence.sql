-- $1 the sequence, $2 its layout's epoch in ms since 1970, $3 the bits of its count; {sequence} its name. It is locked: what is
-- read of it is what it gave out last, so it never goes back.
with floor as materialized (
  select (floor(extract(epoch from clock_timestamp()) * 1000)::int8 - $2) << $3 as value
)
select setval($1::oid::regclass, floor.value, false) from floor, {sequence} s where floor.value > s.last_value
