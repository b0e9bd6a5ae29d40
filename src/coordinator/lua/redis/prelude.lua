-- One hash holds a registry. Its fields: protocol, layout, ttl, durable, keys, incarnation, not_before, version, aof, doubted;
-- and of each machine ID n: e<n> the end of its last fence, t<n> its token while it is leased, h<n> and a<n> who holds or held
-- it, and since when. Times are milliseconds since 1970 by this server's clock; ends are exclusive.
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

-- Whether whoever runs this can wait for the server's disk. Over a connection that is lent nobody can.
local can_wait = true

-- A script that has begun to write may go on where memory is full. What is no field of ours is there to begin with.
local function begin()
  redis.call('HDEL', key, '')
end

local sections = {}

-- What the server says of itself, '' where this user may not ask.
local function section(name)
  if not sections[name] then
    local said = redis.pcall('INFO', name)
    sections[name] = type(said) == 'string' and said or ''
  end
  return sections[name]
end

local function info(name, field)
  return string.match(section(name), '\n' .. field .. ':([^\r\n]*)') or ''
end

-- Whether the server has an append-only file, and a command that waits until it is on disk: that of Redis 7.4 and of Valkey
-- answers before (redis/redis#13793).
local function has_file()
  local major, minor = string.match(info('server', 'redis_version'), '^(%d+)%.(%d+)')
  major, minor = tonumber(major) or 0, tonumber(minor) or 0
  return info('persistence', 'aof_enabled') == '1' and info('server', 'valkey_version') == ''
    and (major > 7 or major == 7 and minor >= 2 and minor ~= 4)
end

-- What this server's replication was called before it took its master's place; '' if it never did.
local function former()
  local id = info('replication', 'master_replid2')
  return string.match(id, '^0*$') and '' or ':' .. id
end

-- Nobody has a copy that could take this server's place, and it took nobody's. In a cluster the hash may move.
local function is_alone()
  return info('replication', 'role') == 'master' and info('replication', 'connected_slaves') == '0' and former() == ''
    and info('cluster', 'cluster_enabled') ~= '1'
end

-- What changes when this registry may have forgotten something: with the server's run, and with its promotion, since what a
-- master has lost to its replica it is given back as a replica. '' where the server does not say.
local function identity(durable)
  if durable == '1' then return 'durable' end
  local run = info('server', 'run_id')
  return run == '' and '' or run .. former()
end

local function is_believed(now, aof)
  return (tonumber(aof) or 0) >= now
end

-- Whether it is the incarnation that it remembers. A restart counts as the same one as long as its append-only file is
-- believed, unless somebody else has a copy; that it was one is written down, unless we only look.
local function is_same(now, durable, incarnation, aof, doubted, looks)
  local found = identity(durable)
  if not incarnation then return false end
  -- Nothing was granted since, where nobody has said yet how to tell.
  if found == '' then return not durable and incarnation == '' end
  -- An hour after its last replica a server forgets that it was promoted.
  if found == incarnation or found == string.match(incarnation, '^(.*):') then return true end
  if durable == '1' or doubted or not is_believed(now, aof) or not has_file() or not is_alone() then
    return false
  end
  if not looks then redis.call('HSET', key, 'incarnation', found) end
  return true
end

local NOTHING, MUST, MAY = 0, 1, 2
-- The file is written to the disk once a second.
local SETTLES_MS = 5000

-- What to wait for before what this script writes is relied on; or nil if it must not be written, and why. As long as a restart
-- would believe the append-only file, nothing is relied on that is not in it; and each grant has it believed for a while
-- longer, if the one who asks knows that this server confirms what it has written (waits '1').
local function secured(now, ttl, durable, aof, doubted, waits)
  if durable == '1' then return NOTHING end
  local believed, writes = is_believed(now, aof), has_file()
  if believed and not writes then return nil, 'unwritten' end
  if not doubted and not (can_wait and is_alone()) then
    doubted = text(now)
    redis.call('HSET', key, 'doubted', doubted)
  end
  if not can_wait then
    -- That restarts count again must be on the disk before anything is granted that may not be.
    if believed and doubted + SETTLES_MS >= now then return nil, 'unsettled' end
    return NOTHING
  end
  if writes and not doubted then
    if not believed and waits ~= '1' then return MAY end
    redis.call('HSET', key, 'aof', text(now + math.floor(ttl * 2 / 3)))
    return MUST
  end
  return believed and MUST or NOTHING
end
