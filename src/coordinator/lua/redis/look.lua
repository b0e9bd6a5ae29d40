-- Answers: 1 now, 2 identity, 3 version ('' without a registry), 4 not_before, 5 same, 6 machine IDs, 7 protocol, 8 layout,
-- 9 ttl, 10 durable, 11 keys; 12 role, 13 whether it is active-active, as far as the server tells; 14 whether a restart would count as the same
local protocol, layout, ttl, durable, keys, incarnation, not_before, version, aof, doubted =
  fields('protocol', 'layout', 'ttl', 'durable', 'keys', 'incarnation', 'not_before', 'version', 'aof', 'doubted')
local now = clock()
local same = protocol and not_before and is_same(now, durable, incarnation, aof, doubted, true)
local believed = same and durable ~= '1' and not doubted and is_believed(now, aof)
local rows = 0
if protocol then
  for _, name in ipairs(redis.call('HKEYS', key)) do
    if string.match(name, '^e%d+$') then rows = rows + 1 end
  end
end
return { text(now), identity(durable), version or '', text(tonumber(not_before) or 0), same and 1 or 0, rows,
  protocol or '0', layout or '', ttl or '', durable or '', keys or '', info('replication', 'role'),
  string.find(section('modules'), 'name=crdt', 1, true) and 1 or 0, believed and 1 or 0 }
