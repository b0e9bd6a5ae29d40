-- ARGV: 1 machine ID, 2 token in hex, 3 the last moment used
local machine = ARGV[1]
if redis.call('HGET', key, 't' .. machine) ~= ARGV[2] then return 0 end
begin()
local now = clock()
local last_used = math.max(now, tonumber(ARGV[3]))
redis.call('HSET', key, 'e' .. machine, text(last_used))
redis.call('HDEL', key, 't' .. machine)
if their_view(machine, ARGV[2]) == 'ours' then tell_them('FXX', machine, ARGV[2], last_used - now) end
return 1
