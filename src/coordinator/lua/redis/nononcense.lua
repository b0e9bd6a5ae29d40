-- KEYS[2] is the hash that NoNoncense 2 leases from: of each lease the fields <n> = token and token.<n>.<token> = n, both of
-- which the server drops when the lease ends. Our own hash keeps the fences, which theirs forgets.
local their_key = KEYS[2]
local LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

-- Their spelling of a token: base64url without padding.
local function spelled(hex)
  local bits, size, letters = 0, 0, {}
  local function letter()
    letters[#letters + 1] = string.sub(LETTERS, bits + 1, bits + 1)
  end
  for digit in string.gmatch(hex, '%x') do
    for place = 3, 0, -1 do
      bits, size = bits * 2 + math.floor(tonumber(digit, 16) / 2 ^ place) % 2, size + 1
      if size == 6 then letter(); bits, size = 0, 0 end
    end
  end
  if size > 0 then bits = bits * 2 ^ (6 - size); letter() end
  return table.concat(letters)
end

-- The machine IDs that are leased there. They read "+1" as 1 and "003" as 3, and so do we.
local function theirs()
  local taken = {}
  for _, name in ipairs(redis.call('HKEYS', their_key)) do
    if string.match(name, '^[+-]?%d+$') then taken[tonumber(name)] = true end
  end
  return taken
end

-- Whose a machine ID is by their hash: 'ours', 'nobody' or 'other'.
local function their_view(n, hex)
  local token = spelled(hex)
  local holder, marker = unpack(redis.call('HMGET', their_key, n, 'token.' .. n .. '.' .. token))
  if holder == token and marker then return 'ours' end
  return holder and 'other' or 'nobody'
end

-- Writes what they would: for so many milliseconds, where `condition` holds (FNX: nobody has it, FXX: it is ours).
local function tell_them(condition, n, hex, ms)
  local token = spelled(hex)
  local said = redis.call('HSETEX', their_key, condition, 'PX', text(ms), 'FIELDS', 2, n, token, 'token.' .. n .. '.' .. token, n)
  assert(said == 1, 'HSETEX changed nothing')
end
