-- Random values of every kind that Lua can make, each with the text that creates it. Their random
-- numbers come from a separate generator, so that a seed gives the same values whatever the tested
-- functions draw.
local cr = require "crescent"

local Values = {}
Values.__index = Values

--- The namespaces of classes, by the kind of class that they contain, and the sorted list of these
--- kinds.
local namespaces, kind_names = {}, {}
for _, value in next, cr do
  local info = type(value) == "table" and cr.describe(value)
  if info and info.what == "namespace" and not namespaces[info.kind] then
    namespaces[info.kind], kind_names[#kind_names + 1] = info, info.kind
  end
end
table.sort(kind_names)

function Values.new(seed)
  local self = setmetatable({ state = seed * 2654435761 + 1, kept = {}, names = {},
    small_numbers_only = false },
    Values)
  self:learn_names()
  return self
end

function Values:integer_below(n)
  self.state = self.state ~ (self.state << 13)
  self.state = self.state ~ (self.state >> 7)
  self.state = self.state ~ (self.state << 17)
  return (self.state >> 1) % n
end

function Values:chance(percent) return self:integer_below(100) < percent end
function Values:one_of(list) return list[self:integer_below(#list) + 1] end

--- Collects words that have a meaning: names of classes, aliases, options, parameters.
function Values:learn_names()
  local words = { "relu", "same", "valid", "causal", "mse", "adam", "float32", "int64", "bfloat16",
    "x", "y", "loss", "auto" }
  for _, kind in ipairs(kind_names) do
    for _, word in ipairs(namespaces[kind].words) do words[#words + 1] = word end
  end
  self.names = words
end

--- Keeps a value for later draws; if 48 are kept, it replaces a random one of them.
function Values:keep(value)
  if value == nil then return end
  if #self.kept < 48 then
    self.kept[#self.kept + 1] = value
  else
    self.kept[self:integer_below(48) + 1] = value
  end
end

local integers = { 0, 1, 2, 3, 4, 5, 8, -1, -2, -3 }
local extreme_numbers = { 2 ^ 31, -2 ^ 31, math.maxinteger, math.mininteger, 1 << 31, (1 << 31) - 1,
  1 << 40, -(1 << 62), 0.1, -0.5, 1e-300,
  1e300, -1e300, 1 / 0, -1 / 0, 0 / 0, -0.0, 2 ^ 53 }
local strings = { "", " ", "\0", "a\0b", "\27[31mred\7", "\255\254", "%s%n%d", "name", "../", "é",
  ("x"):rep(5000), "a.h5", "a.npy", "a.json",
  "{", "null", "-1", "1e9", "Dense", "no such thing", "ab,bc->ac", "...a,ab->...b", "i->", "->" }
local dtypes = { "float32", "float64", "bfloat16", "float16", "int32", "int64", "uint8", "bool" }
local shapes = { {}, { 1 }, { 3 }, { 0 }, { 2, 3 }, { 4, 3 }, { 0, 3 }, { 3, 0 }, { 4, 1 },
  { 2, 3, 4 }, { 2, 0, 4 }, { 2, 5, 5, 3 },
  { 0, 4, 4, 1 }, { 1, 2, 3, 2, 1 } }

local function shape_text(shape) return "{" .. table.concat(shape, ", ") .. "}" end

function Values:number()
  if self.small_numbers_only or self:chance(70) then
    local n = self:one_of(integers)
    return n, tostring(n)
  end
  local n = self:one_of(extreme_numbers)
  return n, string.format("%s", n)
end

function Values:string()
  local text = self:chance(50) and self:one_of(self.names) or self:one_of(strings)
  return text, #text < 100 and string.format("%q", text)
    or string.format("('%s'):rep(%d)", text:sub(1, 1), #text)
end

function Values:tensor()
  local shape, dtype = self:one_of(shapes), self:one_of(dtypes)
  if self:chance(60) then dtype = "float32" end
  local ok, tensor = pcall(function()
    if dtype == "float32" and self:chance(70) then return cr.random.normal(shape) end
    return cr.ones(shape):cast(dtype)
  end)
  return ok and tensor or nil, string.format("cr.ones(%s, %q)", shape_text(shape), dtype)
end

function Values:symbol()
  local shape = self:one_of(shapes)
  local ok, symbol = pcall(cr.Input, { shape = shape })
  return ok and symbol or nil, "cr.Input { shape = " .. shape_text(shape) .. " }"
end

--- An abstract tensor, as layers get while shapes are inferred; it is used after the end of its
--- trace.
function Values:abstract_tensor()
  local symbol
  pcall(function()
    cr.layers.Lambda(function(t) symbol = t return t end)(cr.Input { shape = self:one_of(shapes) })
  end)
  return symbol, "abstract"
end

function Values:list(depth)
  local list, texts = {}, {}
  for i = 1, self:integer_below(4) do
    local value, text = self:any_value(depth + 1)
    list[i], texts[i] = value, text
  end
  return list, "{" .. table.concat(texts, ", ") .. "}"
end

function Values:dict(depth)
  local dict, texts = {}, {}
  for _ = 1, self:integer_below(4) do
    local key, key_text = self:string()
    local value, text = self:any_value(depth + 1)
    dict[key] = value
    texts[#texts + 1] = "[" .. key_text .. "] = " .. text
  end
  return dict, "{" .. table.concat(texts, ", ") .. "}"
end

function Values:odd_table()
  local kind = self:integer_below(6)
  local t = {}
  if kind == 0 then t.t = t return t, "{t = itself}" end
  if kind == 1 then t[1], t[3] = 1, 2 return t, "{[1] = 1, [3] = 2}" end
  if kind == 2 then t[0.5] = 1 return t, "{[0.5] = 1}" end
  if kind == 3 then t[1] = t return t, "{itself}" end
  if kind == 4 then t[cr.null], t[print] = 1, 2 return t, "{[cr.null] = 1, [print] = 2}" end
  setmetatable(t, { __index = function()
    error "index"
  end, __len = function() return 1e9 end, __call = function() return 1 end })
  return t, "a table that fails when looked at"
end

--- A function that returns nil after some calls, so that it ends if it is used as a generator.
function Values:func()
  local kind, call_count = self:integer_below(6), 0
  local descriptions = { "returns nothing", "gives back", "fails", "yields", "gives a value",
    "calls" }
  local value = self:chance(80) and (self:any_value(3)) or nil
  return function(...)
    call_count = call_count + 1
    if call_count > 20 or kind == 0 then return end
    if kind == 1 then return ... end
    if kind == 2 then error "on purpose" end
    if kind == 3 then return coroutine.yield(...) end
    if kind == 4 then return value, value end
    return pcall(value, ...)
  end, "function that " .. descriptions[kind + 1]
end

function Values:class()
  local namespace = self:one_of { "layers", "optimizers", "losses", "metrics", "callbacks",
    "initializers" }
  local name = self:one_of(cr.describe(cr[namespace]).names)
  local ok, class = pcall(function() return cr[namespace][name] end)
  return ok and class or nil, "cr." .. namespace .. "." .. name
end

-- The relative frequency of each kind of value, and the function that draws a value of it.
local kinds = {
  { 8, function() return nil, "nil" end },
  { 4, function() return true, "true" end },
  { 4, function() return false, "false" end },
  { 20, Values.number },
  { 14, Values.string },
  { 16, Values.tensor },
  { 5, Values.symbol },
  { 2, Values.abstract_tensor },
  { 6, function(self, depth) if depth < 3 then return self:list(depth) end return {}, "{}" end },
  { 5, function(self, depth) if depth < 3 then return self:dict(depth) end return {}, "{}" end },
  { 2, Values.odd_table },
  { 4, function(self, depth) if depth < 3 then return self:func() end return print, "print" end },
  { 4, Values.class },
  { 1, function() return cr.null, "cr.null" end },
  { 1, function() return io.stdout, "io.stdout" end },
  { 1, function() return coroutine.create(function() end), "coroutine" end },
  { 1, function(self) return self:one_of { cr.layers, cr.ops, cr }, "namespace" end },
  { 1, function(self)
    return self:one_of { cr.Layer, cr.Model, cr.losses.Loss, cr.metrics.Metric,
      cr.callbacks.Callback }, "base"
  end },
  { 26, function(self)
    if #self.kept == 0 then return {}, "{}" end
    local value = self:one_of(self.kept)
    local info = type(value) == "userdata" and cr.describe(value) or { what = type(value) }
    return value, "<" .. (info.class and info.class.name or info.name or info.what) .. ">"
  end },
}
local total_frequency = 0
for _, kind in ipairs(kinds) do total_frequency = total_frequency + kind[1] end

--- A random value, and the text that creates it.
function Values:any_value(depth)
  local remaining = self:integer_below(total_frequency)
  for _, kind in ipairs(kinds) do
    if remaining < kind[1] then return kind[2](self, depth or 0) end
    remaining = remaining - kind[1]
  end
end

--- A value that the option probably accepts according to its description.
function Values:fitting_value(option)
  if option.choices and self:chance(80) then
    local choice = self:one_of(option.choices)
    return choice, string.format("%q", choice)
  end
  local namespace = option.kind and not option.type:find "number" and namespaces[option.kind]
  if namespace and self:chance(80) then
    local name = self:one_of(namespace.names)
    return name, string.format("%q", name)
  end
  if option.type and option.type:find "integer" then
    local n = self:integer_below(4) + 1
    if option.type:find "list" and self:chance(50) then
      return { n, self:integer_below(3) + 1 }, "{" .. n .. ", ...}"
    end
    return n, tostring(n)
  end
  if option.type and option.type:find "number" then
    local x = self:one_of { 0, 0.25, 0.5, 1 }
    return x, tostring(x)
  end
  if option.type and option.type:find "boolean" then
    local b = self:chance(50)
    return b, tostring(b)
  end
  return self:any_value(1)
end

return Values
