-- ARGV: 1 machine ID, 2 token in hex, 3 ttl in ms, 4 the last confirmed end, 5 margin in ms, 6 the registry's ttl in ms,
-- 7 whether WAITAOF is known to work here
-- Answers nil without a registry, else: 1 verdict ('granted', 'forgotten', 'lost', 'strange', 'unwritten', 'unsettled'),
-- 2 now; 'granted': 3 end, 4 what to wait for
local machine, ttl, confirmed, margin = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local protocol, durable, incarnation, not_before, aof, doubted, ended, token =
  fields('protocol', 'durable', 'incarnation', 'not_before', 'aof', 'doubted', 'e' .. machine, 't' .. machine)
if not protocol then return false end
local now = clock()
not_before = tonumber(not_before)
ended = tonumber(ended)

local function answer(verdict, ...)
  return { verdict, text(now), ... }
end

begin()
if not ended or not not_before or not is_same(now, durable, incarnation, aof, doubted) then return answer('strange') end
local ours = token == ARGV[2]
local view = their_view(machine, ARGV[2])
local remembered = ours and ended >= confirmed and view == 'ours'
local later = now + margin

local until_ms = nil
if remembered and ended >= (now <= not_before and later or now) then
  -- Alive, and nothing of it forgotten.
  until_ms = math.max(ended, now + ttl)
elseif now < not_before and confirmed > later and (ours or ended < now) and view ~= 'other' then
  -- Put back what the registry forgot, unless another's use of this machine ID is not over.
  until_ms = math.max(now + ttl, confirmed)
end
if until_ms then
  local waited, why = secured(now, tonumber(ARGV[6]), durable, aof, doubted, ARGV[7])
  if not waited then return answer(why) end
  tell_them(view == 'ours' and 'FXX' or 'FNX', machine, ARGV[2], until_ms - now)
  redis.call('HSET', key, 'e' .. machine, text(until_ms), 't' .. machine, ARGV[2])
  return answer('granted', text(until_ms), waited)
end
-- An end that was confirmed is not in the registry any more: it forgot.
local forgot = not remembered and confirmed > now and now > not_before and view ~= 'other'
return answer(forgot and 'forgotten' or 'lost')
