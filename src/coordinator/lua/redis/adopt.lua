-- ARGV: 1 the version that was looked at, '' for none; 2 the identity that was; 3 whether to forget what was agreed on;
-- 4 protocol; 5 layout, 6 ttl in ms, 7 durable, 8 key fingerprint in hex: '' is not said; 9 how many machine IDs there are;
-- 10 how long nothing new is granted, in ms, '0' as long as before, 'lift' not a moment longer, '' the incarnation stays
-- Answers: 1 whether it was done, 0 if the registry was changed since it was looked at; 2 what to wait for
local version, durable, aof = fields('version', 'durable', 'aof')
if (version or '') ~= ARGV[1] or identity(durable) ~= ARGV[2] then return { 0, NOTHING } end

if ARGV[3] == '1' then redis.call('HDEL', key, 'layout', 'ttl', 'durable', 'keys') end
redis.call('HSETNX', key, 'protocol', ARGV[4])
for place, name in pairs({ [5] = 'layout', [6] = 'ttl', [7] = 'durable', [8] = 'keys' }) do
  if ARGV[place] ~= '' then redis.call('HSETNX', key, name, ARGV[place]) end
end
redis.call('HINCRBY', key, 'version', 1)
for n = 0, ARGV[9] - 1 do redis.call('HSETNX', key, 'e' .. n, '0') end

durable = fields('durable')
local now, wait = clock(), ARGV[10]
if wait == 'lift' then
  redis.call('HSET', key, 'not_before', '0')
elseif wait ~= '' and wait ~= '0' then
  local not_before = tonumber(fields('not_before') or '0')
  redis.call('HSET', key, 'not_before', text(math.max(not_before, now + wait)))
end
if wait ~= '' then
  redis.call('HSET', key, 'incarnation', identity(durable))
  if durable ~= '1' and is_alone() then redis.call('HDEL', key, 'doubted') end
end
if durable == '1' or not can_wait or not has_file() then return { 1, NOTHING } end
return { 1, is_believed(now, aof) and MUST or MAY }
