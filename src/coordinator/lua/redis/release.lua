-- ARGV: 1 machine ID, 2 token in hex, 3 the last moment used
local machine = ARGV[1]
if redis.call('HGET', key, 't' .. machine) ~= ARGV[2] then return 0 end
redis.call('HSET', key, 'e' .. machine, text(math.max(clock(), tonumber(ARGV[3]))))
redis.call('HDEL', key, 't' .. machine)
return 1
