-- Computes the MD5 hash (RFC 1321) of a text as 16 bytes.
local rounds = {
  { { 7, 12, 17, 22 }, function(x, y, z) return (x & y) | (~x & z) end, 1, 0 },
  { { 5, 9, 14, 20 }, function(x, y, z) return (x & z) | (y & ~z) end, 5, 1 },
  { { 4, 11, 16, 23 }, function(x, y, z) return x ~ y ~ z end, 3, 5 },
  { { 6, 10, 15, 21 }, function(x, y, z) return y ~ (x | ~z) end, 7, 0 },
}
local sines = {}
for i = 1, 64 do sines[i] = math.floor(math.abs(math.sin(i)) * 0x100000000) end

local function rotate_left(x, count)
  x = x & 0xFFFFFFFF
  return (x << count | x >> (32 - count)) & 0xFFFFFFFF
end

local function update_state(state, words)
  local a, b, c, d = table.unpack(state)
  for i = 0, 63 do
    local shifts, f, step, first = table.unpack(rounds[i // 16 + 1])
    local sum = a + f(b, c, d) + sines[i + 1] + words[(step * i + first) % 16 + 1]
    a, d, c, b = d, c, b, (b + rotate_left(sum, shifts[i % 4 + 1])) & 0xFFFFFFFF
  end
  for i, word in ipairs { a, b, c, d } do state[i] = (state[i] + word) & 0xFFFFFFFF end
end

return function(text)
  local padded_text = text .. "\x80" .. ("\0"):rep((55 - #text) % 64)
    .. string.pack("<I8", #text * 8)
  local state = { 0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476 }
  for position = 1, #padded_text, 64 do
    update_state(state, { string.unpack("<" .. ("I4"):rep(16), padded_text, position) })
  end
  return string.pack("<I4I4I4I4", table.unpack(state))
end
