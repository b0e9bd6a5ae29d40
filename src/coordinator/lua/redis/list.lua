-- Answers nil without a registry, else: 1 now, 2 and on: of each machine ID its number, end, holder, and since when
if redis.call('EXISTS', key) == 0 then return false end
local all = redis.call('HGETALL', key)
local values, machines = {}, {}
for place = 1, #all, 2 do
  values[all[place]] = all[place + 1]
  local n = string.match(all[place], '^e(%d+)$')
  if n then machines[#machines + 1] = tonumber(n) end
end
table.sort(machines)
local listed = { text(clock()) }
for _, n in ipairs(machines) do
  for _, value in ipairs({ n, values['e' .. n], values['h' .. n] or '', values['a' .. n] or '' }) do
    listed[#listed + 1] = value
  end
end
return listed
