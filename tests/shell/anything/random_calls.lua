-- Calls every function and method that Lua sees, found by reflection, with values of every kind: no
-- call may end the process. Child processes make the calls in a temporary folder; if one crashes,
-- its seed and the call are printed, and
--   random_calls.lua child SEED COUNT verbose
-- makes the same calls again. CRESCENT_RANDOM_CALLS=SECONDS,SEED sets the time and the seed. A
-- crash is the fault that tests/faults/README.md describes as [L03].
local folder = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = (folder .. "/../support/?.lua;") .. package.path

-- ---- the parent process, which starts child processes -------------------------------------------

local function read_file(path)
  local file = io.open(path)
  local text = file and file:read "a" or ""
  if file then file:close() end
  return text
end

local function run_parent()
  local check = require "check"
  local setting = os.getenv "CRESCENT_RANDOM_CALLS" or ""
  local seconds, first_seed = tonumber(setting:match "^%d+") or 25, tonumber(setting:match ",(%d+)")
    or 1
  local interpreter = arg[-1]
  local script = arg[0]:sub(1, 1) == "/" and arg[0] or (os.getenv "PWD" .. "/" .. arg[0])
  if interpreter:find "/" and interpreter:sub(1, 1) ~= "/" then
    interpreter = os.getenv "PWD" .. "/" .. interpreter
  end
  local scratch = check.temporary ".calls"
  assert(os.execute("mkdir '" .. scratch .. "'"))
  -- A sanitizer reserves more address space than any limit allows, and has a memory limit of its
  -- own.
  local limit_memory = "ulimit -v 6000000; "
  if read_file "/proc/self/maps":find "lib[at]san" then
    limit_memory =
      'ASAN_OPTIONS="$ASAN_OPTIONS:max_allocation_size_mb=2000:allocator_may_return_null=1" '
  end
  local child_count = 4
  local failures = {}
  for seed = first_seed, first_seed + child_count - 1 do
    local command = string.format(
      "cd '%s' && (%sCRESCENT_RANDOM_CALLS_UNTIL=%d timeout -s KILL %d '%s' '%s' child %d)"
        .. " > out.txt 2> err.txt < /dev/null",
      scratch, limit_memory, seconds // child_count, seconds // child_count + 60, interpreter,
      script,
        seed)
    local ok, end_kind, status = os.execute(command)
    if not ok then
      failures[#failures + 1] = string.format("seed %d ended by %s %s in call %s\n%s", seed,
        end_kind,
        status,
        read_file(scratch .. "/last.txt"):match "^[^\n]*",
        read_file(scratch .. "/err.txt"):sub(-500))
    else
      print(string.format("seed %d: %s", seed, read_file(scratch .. "/done.txt")))
    end
  end
  os.execute("rm -rf '" .. scratch .. "'")
  assert(#failures == 0, table.concat(failures, "\n"))
  print "ok random_calls"
end

if arg[1] ~= "child" then return run_parent() end

-- ---- the child process, which makes random calls -----------------------------------------------

local cr = require "crescent"
local RandomValues = require "random_values"
local seed, call_limit, verbose = tonumber(arg[2]), tonumber(arg[3]) or math.huge, arg[4]
local values = RandomValues.new(seed)
local stop_time = os.time() + (tonumber(os.getenv "CRESCENT_RANDOM_CALLS_UNTIL") or 1e9)
local last_call_file = assert(io.open("last.txt", "w"))
local call_count, success_count = 0, 0

--- Functions that are not called, with the reason.
local skipped_paths = { ["cr.sleep"] = "waits for as many seconds as it is given" }

local function sorted_keys(t)
  local keys = {}
  for key in next, t do
    if type(key) == "string" then keys[#keys + 1] = key end
  end
  table.sort(keys)
  return keys
end

local functions, classes, bases = {}, {}, {}

--- Collects every function, class and base class in a table of the module and in the tables below
--- it.
local function collect_callables(t, path, seen)
  if seen[t] then return end
  seen[t] = true
  local info = cr.describe(t)
  if info and info.what == "namespace" then
    for _, name in ipairs(info.names) do
      local ok, class = pcall(function() return t[name] end)
      if ok then classes[#classes + 1] = { path .. "." .. name, class, cr.describe(class) } end
    end
  end
  for _, name in ipairs(sorted_keys(t)) do
    local value, item_path = rawget(t, name), path .. "." .. name
    if type(value) == "function" and not skipped_paths[item_path] then
      functions[#functions + 1] = { item_path, value, cr.describe(value) }
    elseif type(value) == "table" then
      if rawget(value, "subclass") then bases[#bases + 1] = { item_path, value } end
      collect_callables(value, item_path, seen)
    end
  end
end
collect_callables(cr, "cr", {})
assert(#functions > 100 and #classes > 100 and #bases > 5)

local slow_names = { fit = true, evaluate = true, predict = true, profile = true, validate = true,
  train_on_batch = true }

--- Makes the call and keeps its results as arguments for later calls.
local function make_call(text, f, ...)
  call_count = call_count + 1
  last_call_file:seek "set"
  last_call_file:write(call_count, ": ", text, "\n")
  last_call_file:flush()
  if verbose then io.stderr:write(call_count, ": ", text, "\n") end
  local ok, a, b
  if values:chance(3) then
    local results = table.pack(...)
    ok, a, b = coroutine.resume(coroutine.create(function()
      return f(table.unpack(results, 1, results.n))
    end))
  else
    ok, a, b = pcall(f, ...)
  end
  if not ok then return end
  success_count = success_count + 1
  if type(a) == "userdata" or (type(a) == "table" and values:chance(10)) then values:keep(a) end
  if type(b) == "userdata" then values:keep(b) end
end

--- Random arguments by position, sometimes followed by named ones.
local function random_arguments(names, options, self, self_text)
  local list, texts, n = {}, {}, 0
  local function add(value, text)
    n = n + 1
    list[n], texts[n] = value, text
  end
  if self_text then add(self, self_text) end
  local argument_count = values:chance(70) and #names or values:integer_below(#names + 2)
  for _ = n + 1, argument_count do add(values:any_value()) end
  if values:chance(40) then
    local keywords, parts = {}, {}
    for _, option in ipairs(options or {}) do
      if values:chance(35) then
        local value, text = values:fitting_value(option)
        keywords[option.name] = value
        parts[#parts + 1] = option.name .. " = " .. tostring(text)
      end
    end
    for _, name in ipairs(options and {} or names) do
      if values:chance(35) then
        local value, text = values:any_value(1)
        keywords[name] = value
        parts[#parts + 1] = name .. " = " .. tostring(text)
      end
    end
    if values:chance(5) then keywords[values:string()] = values:any_value(1) end
    add(keywords, "{" .. table.concat(parts, ", ") .. "}")
  end
  for i = 1, n do texts[i] = tostring(texts[i]) end
  return list, n, table.concat(texts, ", ")
end

local function call_function()
  local item_path, f, info = table.unpack(values:one_of(functions))
  local list, n, text = random_arguments(info and info.parameters or {}, info and info.options)
  make_call(item_path .. "(" .. text .. ")", f, table.unpack(list, 1, n))
end

--- An object of a random class, with mostly valid options.
local function construct_object()
  local class_path, class, info = table.unpack(values:one_of(classes))
  local options, texts = {}, {}
  for _, option in ipairs(info.options) do
    local is_given = option.required or (not option.keyword_only and values:chance(15))
      or values:chance(2)
    if is_given then
      local value, text
      if values:chance(85) then
        value, text = values:fitting_value(option)
      else
        value, text = values:any_value(1)
      end
      options[option.name] = value
      texts[#texts + 1] = option.name .. " = " .. tostring(text)
    end
  end
  make_call(class_path .. " {" .. table.concat(texts, ", ") .. "}", class, options)
end

local function construct_with_any_values()
  local class_path, class, info = table.unpack(values:one_of(classes))
  local list, n, text = random_arguments({ "a", "b" }, info.options)
  make_call(class_path .. "(" .. text .. ")", class, table.unpack(list, 1, n))
end

--- The members that reflection lists for an object; for a class it lists options instead.
local function members_of(object)
  local info = cr.describe(object)
  info.methods = info.methods or { "from_config" }
  info.properties = info.properties or { "name", "kind", "plugin", "doc" }
  return info
end

local function is_value(x) return type(x) == "userdata" and cr.describe(x) ~= nil end

local function random_object()
  for _ = 1, 10 do
    local value, text = values:any_value()
    if is_value(value) then return value, text, members_of(value) end
  end
  local value = cr.ones { 2, 3 }
  return value, "cr.ones {2, 3}", members_of(value)
end

local function call_method()
  local object, text, info = random_object()
  if #info.methods == 0 then return end
  local name = values:one_of(info.methods)
  local ok, method = pcall(function() return object[name] end)
  if not ok or type(method) ~= "function" then return end
  local f = cr.describe(method)
  local names = {}
  for i, parameter in ipairs(f and f.parameters or { "self" }) do names[i] = parameter end
  values.small_numbers_only = slow_names[name]
  local self, self_text = object, text
  if values:chance(5) then self, self_text = values:any_value() end
  local list, n, args_text = random_arguments(names, f and f.options, self, tostring(self_text))
  make_call(tostring(text) .. "." .. name .. "(" .. args_text .. ")", method,
    table.unpack(list, 1, n))
  values.small_numbers_only = false
end

local function access_property()
  local object, text, info = random_object()
  local name = #info.properties > 0 and values:one_of(info.properties) or "name"
  if values:chance(15) then name = values:any_value(1) end
  if values:chance(60) then
    make_call(tostring(text) .. "." .. tostring(name), function() return object[name] end)
  else
    local value, value_text = values:any_value()
    make_call(tostring(text) .. "." .. tostring(name) .. " = " .. tostring(value_text), function()
      object[name] = value
    end)
  end
end

local operators = {
  ["+"] = function(a, b)
    return a + b
  end, ["-"] = function(a, b) return a - b end, ["*"] = function(a, b) return a * b end,
  ["/"] = function(a, b)
    return a / b
  end, ["%"] = function(a, b) return a % b end, ["^"] = function(a, b) return a ^ b end,
  ["//"] = function(a, b)
    return a // b
  end, [".."] = function(a, b) return a .. b end, ["=="] = function(a, b) return a == b end,
  ["<"] = function(a, b) return a < b end, ["<="] = function(a, b)
    return a <= b
  end, ["&"] = function(a, b) return a & b end,
  ["<<"] = function(a, b)
    return a << b
  end, ["unary -"] = function(a) return -a end, ["~"] = function(a) return ~a end,
  ["#"] = function(a) return #a end, ["index"] = function(a, b) return a[b] end,
  ["tostring"] = function(a) return tostring(a) end,
  ["pairs"] = function(a) for _ in pairs(a) do break end end, ["ipairs"] = function(a)
    for i in ipairs(a) do if i > 5 then break end end
  end, ["close"] = function(a) local b <close> = a end,
  ["getmetatable"] = function(a) return getmetatable(a) end,
}
local operator_names = sorted_keys(operators)

local function call_operator()
  local name = values:one_of(operator_names)
  local object, text = random_object()
  local operand, operand_text = values:any_value()
  if values:chance(30) then
    object, text, operand, operand_text = operand, operand_text, object, text
  end
  make_call(name .. "(" .. tostring(text) .. ", " .. tostring(operand_text) .. ")", operators[name],
    object, operand)
end

--- Calls a random metamethod with any value as self.
local function call_metamethod()
  local object, text = random_object()
  local metatable = getmetatable(object)
  if type(metatable) ~= "table" then return call_operator() end
  local name = values:one_of(sorted_keys(metatable))
  if type(metatable[name]) ~= "function" then return end
  local list, n, args_text = random_arguments { "self", "other" }
  make_call("getmetatable(" .. tostring(text) .. ")." .. name .. "(" .. args_text .. ")",
    metatable[name],
    table.unpack(list, 1, n))
end

--- Calls an object, such as a layer on data.
local function call_object()
  local object, text, info = random_object()
  local list, n, args_text = random_arguments({ "inputs" }, info.class and info.class.arguments)
  make_call(tostring(text) .. "(" .. args_text .. ")", object, table.unpack(list, 1, n))
end

local hooks = { "init", "build", "call", "compute_mask", "get_config", "update_state", "result",
  "reset_state", "on_epoch_end", "on_train_begin",
  "cal", "train_step", "slots", "initial_slot", "update_step" }

local function derive_class()
  local base_path, base = table.unpack(values:one_of(bases))
  local name = values:chance(80) and "Class" .. values:integer_below(30) or values:string()
  local options, options_text = values:any_value(1)
  if values:chance(70) then options, options_text = { { "units", 2 } }, "{{'units', 2}}" end
  local class
  make_call(base_path .. ":subclass(" .. tostring(name) .. ", " .. tostring(options_text) .. ")",
    function()
    class = base:subclass(name, options)
  end)
  if not class then return end
  for _, hook in ipairs(hooks) do
    if values:chance(25) then class[hook] = values:func() end
  end
  if values:chance(60) then class.call = function(_, x) return x end end
  local argument, text = values:any_value(1)
  make_call(base_path .. " derived (" .. tostring(text) .. ")", class, argument)
  if values:chance(20) then
    local input = cr.Input { shape = { 3 } }
    make_call(base_path .. " derived of symbols", class, input,
      values:chance(80) and input or argument)
  end
end

--- A small model that can be trained, so that methods have data to work on.
local function make_model()
  make_call("a model", function()
    local layers = { cr.layers.Dense(2, { input_shape = { 3 } }) }
    local object, _, info = random_object()
    if info.class and info.class.kind == "layer" then layers[2] = object end
    local model = values:chance(50) and cr.Sequential(layers)
      or cr.Sequential { cr.layers.Dense(2) }
    if values:chance(70) then model:compile { optimizer = "sgd", loss = "mse" } end
    if values:chance(40) then model:fit(cr.ones { 4, 3 }, cr.ones { 4, 2 }, { verbose = 0 }) end
    return model
  end)
end

local actions = { { 22, call_function }, { 18, construct_object }, { 6, construct_with_any_values },
  { 24, call_method }, { 10, access_property },
  { 10, call_operator }, { 2, call_metamethod }, { 14, call_object }, { 3, derive_class },
  { 3, make_model } }
local total_frequency = 0
for _, action in ipairs(actions) do total_frequency = total_frequency + action[1] end

while call_count < call_limit and os.time() < stop_time do
  local remaining = values:integer_below(total_frequency)
  for _, action in ipairs(actions) do
    if remaining < action[1] then
      action[2]()
      break
    end
    remaining = remaining - action[1]
  end
  if values:integer_below(500) == 0 then collectgarbage() end
end
values = nil
collectgarbage()
local report_file = assert(io.open("done.txt", "w"))
report_file:write(string.format("%d calls, %d of them without an error", call_count, success_count))
report_file:close()
