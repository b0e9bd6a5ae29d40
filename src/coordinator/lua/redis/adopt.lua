-- ARGV: 1 the version that was looked at, '' for none; 2 the identity that was; 3 whether to forget what was agreed on;
-- 4 protocol; 5 layout, 6 ttl in ms, 7 durable, 8 key fingerprint in hex: '' is not said; 9 how many machine IDs there are;
-- 10 how long nothing new is granted, in ms, '0' as long as before, 'lift' not a moment longer, '' the incarnation stays
-- Answers: 1 whether it was done, 0 if the registry was changed since it was looked at; 2 whether to wait for the append-only file
local version, durable = fields('version', 'durable')
if (version or '') ~= ARGV[1] or identity(durable) ~= ARGV[2] then return { 0, 0 } end

if ARGV[3] == '1' then redis.call('HDEL', key, 'layout', 'ttl', 'durable', 'keys') end
redis.call('HSETNX', key, 'protocol', ARGV[4])
for place, name in pairs({ [5] = 'layout', [6] = 'ttl', [7] = 'durable', [8] = 'keys' }) do
  if ARGV[place] ~= '' then redis.call('HSETNX', key, name, ARGV[place]) end
end
redis.call('HINCRBY', key, 'version', 1)
for n = 0, ARGV[9] - 1 do redis.call('HSETNX', key, 'e' .. n, '0') end

durable = fields('durable')
local wait = ARGV[10]
if wait == 'lift' then
  redis.call('HSET', key, 'not_before', '0')
elseif wait ~= '' and wait ~= '0' then
  local not_before = tonumber(fields('not_before') or '0')
  redis.call('HSET', key, 'not_before', text(math.max(not_before, clock() + wait)))
end
if wait ~= '' then
  local aof = wait ~= '0' and keeps_word(durable) and is_alone()
  local since = can_wait and '0' or fields('aof') or '0'
  if since == '1' then since = text(clock()) end
  redis.call('HSET', key, 'incarnation', identity(durable), 'aof', aof and '1' or since)
end
return { 1, syncs(durable) and 1 or 0 }
