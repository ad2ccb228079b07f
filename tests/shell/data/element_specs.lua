-- Datasets describe their elements before the first one is made: dtypes, shapes, and the number of
-- elements.
local cr = require "crescent"
package.path = arg[0]:match "^(.*)/[^/]*$" .. "/../support/?.lua;" .. package.path
local check = require "check"

local x, y = cr.zeros { 6, 28, 3 }, cr.zeros({ 6 }, "uint8")
local pair_dataset = cr.data.from_tensor_slices { x, y }

for _, row in ipairs {
  { pair_dataset, "(float32(28, 3), uint8)", "6 elements" },
  { cr.data.from_tensor_slices(x), "float32(28, 3)", "6 elements" },
  { cr.data.from_tensor_slices { left = y, right = x }, "{ left = uint8, right = float32(28, 3) }",
    "6 elements" },
  { cr.data.from_tensor_slices { { "a", "b" }, { 5, 6 } }, "(string, float32)", "2 elements" },
  { cr.data.from_list { { "a.png", 0 }, { "b.png", 1 } }, "(string, int32)", "2 elements" },
  { cr.data.from_list { 1, 2.5 }, nil, "2 elements" },
  { cr.data.from_list { { x }, { cr.zeros { 6, 27, 3 } } }, "float32(6, None, 3)", "2 elements" },
  { pair_dataset:batch(3), "(float32(3, 28, 3), uint8(3,))", "2 elements" },
  { pair_dataset:batch(4), "(float32(None, 28, 3), uint8(None,))", "2 elements" },
  { pair_dataset:batch(4, true), "(float32(4, 28, 3), uint8(4,))", "1 elements" },
  { pair_dataset:window(2, 1), "(float32(None, 28, 3), uint8(None,))", "6 elements" },
  { pair_dataset:repeated():batch(4), "(float32(4, 28, 3), uint8(4,))", "without end" },
  { pair_dataset:batch(4):unbatch(), "(float32(28, 3), uint8)" },
  { pair_dataset:unbatch() },
  { pair_dataset:shuffle(3):take(2):skip(1):cache():prefetch(1), "(float32(28, 3), uint8)",
    "1 elements" },
  { pair_dataset:filter(function() return true end), "(float32(28, 3), uint8)" },
  { pair_dataset:map(function(a) return a end), nil, "6 elements" },
  { pair_dataset:enumerate(), "(int32, float32(28, 3), uint8)", "6 elements" },
  { pair_dataset:zip(cr.data.from_list { "a" }), "(float32(28, 3), uint8, string)", "1 elements" },
  { pair_dataset:zip(pair_dataset:map(function(a) return a end)), nil, "6 elements" },
  { pair_dataset:concatenate(pair_dataset), "(float32(28, 3), uint8)", "12 elements" },
  { pair_dataset:concatenate(pair_dataset:batch(2)), nil, "9 elements" },
  { cr.data.from_generator(function() error "a pass was begun" end) },
  { cr.data.dataset(x, y, { batch_size = 3 }), "(float32(3, 28, 3), uint8(3,))",
    "2 batches, 6 samples" },
  { cr.data.dataset(x, { y, x }, { batch_size = 4 }),
    "(float32(None, 28, 3), { uint8(None,), float32(None, 28, 3) })", "2 batches, 6 samples" },
  { cr.data.dataset(x):take(1), "float32(6, 28, 3)", "1 elements" },
} do
  local data, spec, count_text = row[1], row[2], row[3]
  check.same(data.element_spec, spec)
  local spec_text, ending = spec and " of " .. spec or "",
    count_text and (spec and ", " or ": ") .. count_text or ""
  check.same(tostring(data), "<Dataset" .. spec_text .. ending .. ">")
end

-- ---- random chains: every element matches the announced spec -----------------------------------

local seed = os.time()
math.randomseed(seed)
local random = math.random

local function shape_text(shape)
  return "(" .. table.concat(shape, ", ") .. (#shape == 1 and ",)" or ")")
end
local function part_text(part)
  if math.type(part) == "integer" then return "int32" end
  return part.dtype .. (#part.shape > 0 and shape_text(part.shape) or "")
end
local function element_text(parts)
  local texts = {}
  for i, part in ipairs(parts) do texts[i] = part_text(part) end
  return #texts == 1 and texts[1] or "(" .. table.concat(texts, ", ") .. ")"
end
local function pattern_of(spec)
  return "^" .. spec:gsub("[%(%)]", "%%%0"):gsub("None", "%%d+") .. "$"
end

local function random_dataset()
  local parts, count = {}, random(1, 9)
  for i = 1, random(1, 3) do
    local shape = { count }
    for axis = 1, random(0, 2) do shape[axis + 1] = random(1, 3) end
    parts[i] = cr.zeros(shape, ({ "float32", "int32", "uint8" })[random(3)])
  end
  return cr.data.from_tensor_slices(parts)
end
local chain_steps = {
  function(data) return data:batch(random(1, 4), random(2) == 1) end,
  function(data) return data:window(random(1, 3), random(1, 3), random(1, 2), random(2) == 1) end,
  function(data) return data:batch(random(1, 3)):unbatch() end,
  function(data) return data:shuffle(random(1, 5)):repeated(random(1, 2)) end,
  function(data) return data:skip(random(0, 2)):cache() end,
  function(data) return data:concatenate(data:take(random(1, 3))) end,
  function(data) return data:enumerate() end,
  function(data) return data:zip(data:batch(2)) end,
  function(data) return data:filter(function() return random(4) > 1 end) end,
}

-- The parts of the next element; nil at the end, or if elements of different shapes cannot be
-- batched.
local function next_parts(elements)
  local next_result = table.pack(pcall(elements))
  assert(next_result[1]
    or tostring(next_result[2]):find "tensors of one batch have the same shape", next_result[2])
  return next_result[1] and next_result[2] ~= nil
    and { table.unpack(next_result, 2, next_result.n) } or nil
end

local checked_count = 0
for chain = 1, 300 do
  local data = random_dataset()
  for _ = 1, random(0, 4) do data = chain_steps[random(#chain_steps)](data) end
  local spec = data.element_spec
  local elements = data:take(8):elements()
  for parts in next_parts, elements do
    local text = element_text(parts)
    assert(spec and text:find(pattern_of(spec)),
      string.format("seed %d, chain %d: %s, got %s", seed, chain, data, text))
    checked_count = checked_count + 1
  end
end
assert(checked_count > 300)
