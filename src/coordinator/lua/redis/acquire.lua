-- ARGV: 1 and 2 the first and last machine ID wanted, 3 random bytes in hex, 4 ttl in ms, 5 layout, 6 the registry's ttl in ms,
-- 7 key fingerprint in hex or '', 8 holder, 9 protocol, 10 durable ('0' or '1'), 11 whether WAITAOF is known to work here
-- Answers nil without a registry, else: 1 verdict ('granted', 'exhausted', 'waiting', 'strange', 'disagreed', 'unwritten',
-- 'unsettled'), 2 now, 3 not_before; 'granted': 4 machine ID, 5 token, 6 end, 7 how many are leased, 8 what to wait for, 9 eviction policy;
-- 'disagreed': 4 protocol, 5 layout, 6 ttl, 7 durable, 8 keys
local first, last, ttl = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
local protocol, layout, agreed_ttl, durable, keys, incarnation, not_before, aof, doubted =
  fields('protocol', 'layout', 'ttl', 'durable', 'keys', 'incarnation', 'not_before', 'aof', 'doubted')
if not protocol then return false end
local now = clock()

local function answer(verdict, ...)
  return { verdict, text(now), text(tonumber(not_before) or 0), ... }
end

local knows_key = ARGV[7] == '' or string.find(',' .. (keys or '') .. ',', ',' .. ARGV[7] .. ',', 1, true)
if tonumber(protocol) > tonumber(ARGV[9]) or layout ~= ARGV[5] or agreed_ttl ~= ARGV[6] or durable ~= ARGV[10]
  or not knows_key then
  return answer('disagreed', protocol, layout or '', agreed_ttl or '', durable or '', keys or '')
end
not_before = tonumber(not_before)
if not not_before or not is_same(now, durable, incarnation, aof, doubted) then return answer('strange') end
if not_before >= now then return answer('waiting') end

-- The one that has been free longest.
local CHUNK = 1000
local free, free_since, leased, taken = nil, nil, 0, theirs()
for from = first, last, CHUNK do
  local to = math.min(from + CHUNK - 1, last)
  local names = {}
  for n = from, to do names[#names + 1] = 'e' .. n end
  local ends = redis.call('HMGET', key, unpack(names))
  for n = from, to do
    local ended = tonumber(ends[n - from + 1])
    -- Somebody deleted it, and its holder may live.
    if not ended then return answer('strange') end
    if ended >= now or taken[n] then
      leased = leased + 1
    elseif not free or ended < free_since then
      free, free_since = n, ended
    end
  end
end
if not free then return answer('exhausted') end

local waited, why = secured(now, tonumber(agreed_ttl), durable, aof, doubted, ARGV[11])
if not waited then return answer(why) end
local start = now + 1
local token = ARGV[3] .. string.format('%08x%08x', math.floor(start / 4294967296), start % 4294967296)
local until_ms = text(now + ttl)
tell_them('FNX', free, token, ttl)
redis.call('HSET', key, 'e' .. free, until_ms, 't' .. free, token, 'h' .. free, ARGV[8], 'a' .. free, text(now))
return answer('granted', free, token, until_ms, leased + 1, waited, info('memory', 'maxmemory_policy'))
