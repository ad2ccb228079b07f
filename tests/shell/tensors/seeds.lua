-- Random numbers in compiled functions: an integer seed gives the same numbers in every call, a
-- generator or the global state gives other numbers.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local ops = cr.ops

-- Returns the results of three calls of `draw`, in a compiled function or without one.
local function three_results(draw, is_compiled)
  local f = function(x) return x * 0 + ops.cast(draw(), "float32") end
  if is_compiled then f = cr.compiled(f) end
  local results = {}
  for i = 1, 3 do results[i] = f(cr.zeros { 50 }):totable() end
  return results
end

local draws = {
  normal = function(seed) return cr.random.normal({ 50 }, { seed = seed }) end,
  uniform = function(seed) return cr.random.uniform({ 50 }, { seed = seed }) end,
  truncated_normal = function(seed) return cr.random.truncated_normal({ 50 }, { seed = seed }) end,
  randint = function(seed) return cr.random.randint({ 50 }, 0, 1000, { seed = seed }) end,
  permutation = function(seed) return cr.random.permutation(50, { seed = seed }) end,
  shuffle = function(seed) return cr.random.shuffle(ops.arange(50), { seed = seed }) end,
}
for name, draw in pairs(draws) do
  for _, is_compiled in ipairs { false, true } do
    local what = name .. (is_compiled and ", compiled" or "")
    local same_seed_results = three_results(function() return draw(42) end, is_compiled)
    check.same(same_seed_results[1], same_seed_results[2], what)
    check.same(same_seed_results[1], same_seed_results[3], what)
    local generator = cr.random.SeedGenerator(42)
    for _, seed in ipairs { generator, false } do
      local other_results = three_results(function() return draw(seed or nil) end, is_compiled)
      for i = 1, 3 do
        check.same(#other_results[i], 50, what)
        for j = 1, i - 1 do
          local equal_count = 0
          for k = 1, 50 do
            equal_count = equal_count + (other_results[i][k] == other_results[j][k] and 1 or 0)
          end
          assert(equal_count < 15, what .. ": " .. equal_count
            .. " of 50 numbers are the same in two calls")
        end
      end
    end
    if name == "permutation" or name == "shuffle" then
      table.sort(same_seed_results[1])
      for k = 1, 50 do check.same(same_seed_results[1][k], k - 1.0, what) end
    end
  end
end

-- an initializer with a seed gives the same weights in a compiled function too
local initializer = cr.initializers.GlorotUniform { seed = 3 }
local initial_weights = cr.compiled(function(x) return x * 0 + initializer { 5, 5 } end)
check.same(initial_weights(cr.zeros { 5, 5 }):totable(), initializer { 5, 5 }:totable())
check.same(initial_weights(cr.zeros { 5, 5 }):totable(), initializer { 5, 5 }:totable())

-- integers that the dtype cannot represent are refused
local random = cr.random
check.fails(function() random.randint({ 3 }, 0, 2 ^ 31 + 1 | 0) end,
  "randint: expected minval and maxval - 1 between -2147483648 and 2147483647 for dtype int32, got "
    .. "0 and 2147483648; int64 holds larger integers")
check.fails(function() random.randint({ 3 }, -1, 5, "uint8") end, "between 0 and 255")
check.fails(function() random.randint({ 3 }, 0, 257, "uint8") end, "got 0 and 256")
check.fails(function() random.randint({ 3 }, 0, 129, "int8") end, "between -128 and 127")
check.fails(function() random.randint({ 3 }, 0, math.maxinteger, "int64") end, "9007199254740991")
local limits = { int8 = { -128, 128 }, uint8 = { 0, 256 }, int16 = { -32768, 32768 },
  int32 = { -2 ^ 31 | 0, 2 ^ 31 | 0 }, int64 = { -2 ^ 53 | 0, 2 ^ 53 | 0 } }
for dtype, limit in pairs(limits) do
  local x = random.randint({ 1000 }, limit[1], limit[2], dtype)
  assert(x.dtype == dtype)
  local midpoint = (limit[1] + limit[2]) / 2
  local count_below = ops.sum(ops.cast(ops.less(ops.cast(x, "float64"), midpoint), "int32")):item()
  assert(count_below > 400 and count_below < 600, dtype .. ": " .. count_below
    .. " of 1000 below the middle")
end
