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

-- What the server says of itself; '' where it does not, or not to this user, or not to a script.
local function told(section, field)
  local said = redis.pcall('INFO', section)
  return type(said) == 'string' and string.match(said, field .. ':([^\r\n]*)') or ''
end

-- Whether whoever runs this can wait for the server's disk. Over a connection that is lent nobody can.
local can_wait = true

-- What every claim must be written to before it is believed: the append-only file, where the server can wait for it.
local function syncs(durable)
  if not can_wait or durable == '1' or told('persistence', 'aof_enabled') ~= '1' then return false end
  local major, minor = string.match(told('server', 'redis_version'), '^(%d+)%.(%d+)')
  return major ~= nil and (major + 0 > 7 or (major == '7' and minor + 0 >= 2))
end

-- Whether the server's word for that holds when the power goes. Redis 7.4 and Valkey give it before the file is on disk
-- (github.com/redis/redis/pull/13793).
local function keeps_word(durable)
  return syncs(durable) and told('server', 'valkey_version') == '' and string.sub(told('server', 'redis_version'), 1, 4) ~= '7.4.'
end

-- A server that nobody ever copied: what it had confirmed, only its own file can bring back.
local function is_alone()
  return told('replication', 'role') == 'master' and told('replication', 'connected_slaves') == '0'
    and string.match(told('replication', 'master_replid2'), '^0*$') ~= nil
end

-- What changes when this registry may have forgotten something. '' where the server does not say. A server that was another's
-- replica meanwhile has that one's data, and not its own last writes: the replication ID before its own is another one.
local function identity(durable)
  if durable == '1' then return 'durable' end
  local run = told('server', 'run_id')
  return run == '' and '' or run .. '/' .. told('replication', 'master_replid2')
end

-- Whether it is the incarnation that it remembers. A restart counts as the same one where every claim since the last adoption
-- was in the append-only file before it was believed, and nobody else has a copy that could take its place.
local function is_same(durable, incarnation, aof)
  local found = identity(durable)
  if found == '' or not incarnation then return false end
  if aof == '1' and not (is_alone() and keeps_word(durable)) then
    aof = can_wait and '0' or text(clock())
    redis.call('HSET', key, 'aof', aof)
  end
  if found == incarnation then return true end
  if aof ~= '1' or durable == '1' then return false end
  redis.call('HSET', key, 'incarnation', found)
  return true
end

-- From when on who cannot wait may rely on what is written: that a restart does not count as the same one any more has to
-- be on the disk before anything is granted that may not be. The file is written to it once a second.
local function settled_from()
  if can_wait then return 0 end
  return tonumber(fields('aof') or '0') + 5000
end
