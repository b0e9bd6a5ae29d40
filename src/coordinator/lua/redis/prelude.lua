-- One hash holds a registry. Its fields: protocol, layout, ttl, durable, keys, incarnation, not_before, version, aof; and of
-- each machine ID n: e<n> the end of its last fence, t<n> its token while it is leased, h<n> and a<n> who holds or held it,
-- and since when. Times are milliseconds since 1970 by this server's clock; ends are exclusive.
local key = KEYS[1]

-- Numbers are doubles here; 15 digits of one are exact.
local function text(number)
  return string.format('%.0f', number)
end

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function fields(...)
  return unpack(redis.call('HMGET', key, ...))
end

local function info(section, field)
  return string.match(redis.call('INFO', section), field .. ':([^\r\n]*)')
end

-- The same, '' where this user may not ask.
local function told(section, field)
  local said = redis.pcall('INFO', section)
  return type(said) == 'string' and string.match(said, field .. ':([^\r\n]*)') or ''
end

-- What every claim must be written to before it is believed: the append-only file, where the server can wait for it.
local function syncs(durable)
  if durable == '1' or info('persistence', 'aof_enabled') ~= '1' then return false end
  local major, minor = string.match(info('server', 'redis_version') or '', '^(%d+)%.(%d+)')
  return major ~= nil and (major + 0 > 7 or (major == '7' and minor + 0 >= 2))
end

-- A server that nobody ever copied: what it had confirmed, only its own file can bring back.
local function is_alone()
  return info('replication', 'role') == 'master' and info('replication', 'connected_slaves') == '0'
    and string.match(info('replication', 'master_replid2') or '', '^0*$') ~= nil
end

-- What changes when this registry may have forgotten something. '' where the server does not say.
local function identity(durable)
  if durable == '1' then return 'durable' end
  return info('server', 'run_id') or ''
end

-- Whether it is the incarnation that it remembers. A restart counts as the same one where every claim since the last adoption
-- was in the append-only file before it was believed, and nobody else has a copy that could take its place.
local function is_same(durable, incarnation, aof)
  local found = identity(durable)
  if found == '' or not incarnation then return false end
  if aof == '1' and not (is_alone() and syncs(durable)) then
    redis.call('HSET', key, 'aof', '0')
    aof = '0'
  end
  if found == incarnation then return true end
  if aof ~= '1' or durable == '1' then return false end
  redis.call('HSET', key, 'incarnation', found)
  return true
end
