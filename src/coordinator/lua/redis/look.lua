-- Answers: 1 now, 2 identity, 3 version ('' without a registry), 4 not_before, 5 same, 6 machine IDs, 7 protocol, 8 layout,
-- 9 ttl, 10 durable, 11 keys; 12 role, 13 modules, as far as the server tells; 14 whether it is the same one after a restart
local protocol, layout, ttl, durable, keys, incarnation, not_before, version, aof =
  fields('protocol', 'layout', 'ttl', 'durable', 'keys', 'incarnation', 'not_before', 'version', 'aof')
local same = protocol and is_same(durable, incarnation, aof)
local outlasts = aof ~= '0' and keeps_word(durable) and is_alone()
local rows = 0
if protocol then
  for _, name in ipairs(redis.call('HKEYS', key)) do
    if string.match(name, '^e%d+$') then rows = rows + 1 end
  end
end
return { text(clock()), identity(durable), version or '', text(tonumber(not_before or '0')), same and 1 or 0, rows,
  protocol or '0', layout or '', ttl or '', durable or '', keys or '', told('replication', 'role'), told('modules', 'module'),
  outlasts and 1 or 0 }
