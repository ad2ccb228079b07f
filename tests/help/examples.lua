-- Runs every example of the help and compares its output with the text: words and punctuation
-- exactly, numbers up to rounding, messages of errors exactly. Every class, function and method
-- must have an example with the likeliest mistake and its message, except for those listed below.
--   crescent tests/help/examples.lua [--write FILE.examples ...]
-- --write writes the current output into the files.
local cr = require "crescent"
local folder = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = folder .. "/?.lua;" .. package.path
local run_entry = require "run_entry"
_G.cr = cr  -- a global, as at the prompt

-- Names that need no example, as patterns, with the reason.
local exceptions = {
  ["^cr%.applications%..*%u%w*$"] = "large models, which take seconds to make",
  ["^cr%.applications%..*decode_predictions$"] = "names of classes from the network",
  ["^cr%.datasets%."] = "data from the network",
  ["^cr%.config%..*nnx$"] = "a word of another backend",
  ["^cr%.help$"] = "shows examples itself",
  ["%.FeatureSpace%.feature$"] = "the general form of those beside it",
  ["%.FeatureSpace%.from_config$"] = "what a file says",
}

-- Names whose examples need no error, as patterns, with the reason.
local without_errors = {
  ["^cr%.applications%.convnext%.preprocess_input$"] = "gives back what it is given",
  ["^cr%.applications%.efficientnet%.preprocess_input$"] = "gives back what it is given",
  ["^cr%.applications%.efficientnet_v2%.preprocess_input$"] = "gives back what it is given",
  ["^cr%.applications%.mobilenet_v3%.preprocess_input$"] = "gives back what it is given",
  ["^cr%.describe$"] = "takes any value",
  ["^cr%.print$"] = "takes any value",
  ["^cr%.show$"] = "takes any value",
  ["^cr%.ops%.is_tensor$"] = "takes any value",
  ["^cr%.tree%.is_nested$"] = "takes any value",
  ["^cr%.tree%.lists_to_tuples$"] = "takes any value",
  ["^cr%.tree%.flatten"] = "takes any value: what is no structure is a leaf",
  ["%.get_registered_name$"] = "takes any value",
  ["%.serialize_keras_object$"] = "takes any value",
  ["^cr%.distribution%.distribution$"] = "has no arguments",
  ["^cr%.distribution%.get_device_count$"] = "finds no device of a kind that is not there",
  ["^cr%.distribution%.list_devices$"] = "finds no device of a kind that is not there",
}

--- Whether the path names a method of a base class, such as cr.Layer.add_weight. Such a method
--- needs no example of its own, since it is documented as a method of objects, layer.add_weight.
local function is_of_base(path)
  local base = path:match "^(cr%..*%u%w*)%.[%l_]+$"
  return base and not base:find "FeatureSpace"
end

local used_exceptions = {}
local function matches(path, patterns)
  for pattern in pairs(patterns) do
    if path:find(pattern) then
      used_exceptions[pattern] = true
      return true
    end
  end
end

local function is_excepted(path) return matches(path, exceptions) or is_of_base(path) end

local problems = {}
local function add_problem(...) problems[#problems + 1] = string.format(...) end

-- ---- every name has an example and an error

local function check_names(listing)
  local name_count = 0
  local function check(path, row)
    name_count = name_count + 1
    if not row.example and not is_excepted(path) then add_problem("%s has no example", path) end
    if row.example and not row.errors and not matches(path, without_errors) then
      add_problem("%s has no error", path)
    end
  end
  for _, row in ipairs(listing.functions) do check(row.path, row) end
  for _, row in ipairs(listing.classes) do
    check(row.path, row)
  end
  for _, kind in ipairs(listing.types) do
    for _, row in ipairs(kind.methods) do check(kind.name .. "." .. row.name, row) end
  end
  for pattern in pairs(exceptions) do
    if not used_exceptions[pattern] then
      add_problem("all that is called %s has examples", pattern)
    end
  end
  for pattern in pairs(without_errors) do
    if not used_exceptions[pattern] then
      add_problem("all that is called %s has errors", pattern)
    end
  end
  return name_count
end

-- ---- every example has the output that it shows

--- Whether the texts are equal up to spaces and rounding of numbers.
local function is_same(a, b)
  local numbers = "[+-]?%d+%.?%d*[eE]?[+-]?%d*"
  local function text_and_numbers(text)
    local found_numbers = {}
    text = text:gsub(numbers, function(number)
      found_numbers[#found_numbers + 1] = tonumber(number)
      return tonumber(number) and "#" or number
    end)
    return text:gsub("%s+", ""), found_numbers
  end
  local text, values = text_and_numbers(a)
  local expected_text, expected = text_and_numbers(b)
  if text ~= expected_text or #values ~= #expected then return false end
  for i, value in ipairs(values) do
    local tolerance = 1e-5 * math.max(1e-2, math.abs(expected[i]))
    if math.abs(value - expected[i]) > tolerance then return false end
  end
  return true
end

--- Runs f with names of temporary files that are removed afterwards.
local function with_temporary_files(f)
  local tmpname, made_paths = os.tmpname, {}
  function os.tmpname()
    made_paths[#made_paths + 1] = tmpname()
    return made_paths[#made_paths]
  end
  f()
  os.tmpname = tmpname
  for _, path in ipairs(made_paths) do
    os.execute(string.format("rm -rf '%s.search' '%s.folder'", path, path))
    for _, ending in ipairs { "", ".csv", ".keras", ".png", ".onnx", ".txt", ".weights.h5" } do
      os.remove(path .. ending)
    end
  end
end

--- Runs the lines of an example; returns the lines with the current output, and whether this equals
--- the recorded output.
local function run_again(lines)
  local rerun_lines, environment, agrees = {}, setmetatable({}, { __index = _G }), true
  local expected, answers = {}, {}
  local function compare()
    local text, expected_text = table.concat(answers, "\n"), table.concat(expected, "\n")
    agrees = agrees and (text == expected_text
      or not text:find "^crescent: " and is_same(text, expected_text))
  end
  cr.utils.clear_session()
  with_temporary_files(function()
    for _, line in ipairs(lines) do
      local code = line:match "^> (.*)$"
      if code then
        compare()
        expected, answers = {}, run_entry(code, environment)
        rerun_lines[#rerun_lines + 1] = line
        for _, answer in ipairs(answers) do rerun_lines[#rerun_lines + 1] = answer end
      else
        expected[#expected + 1] = line
      end
    end
    compare()
  end)
  return rerun_lines, agrees
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  return lines
end

--- The examples in a file: {heading =, lines =}.
local function examples_in(path)
  local examples = {}
  for line in io.lines(path) do
    if line:find "^# " then
      examples[#examples + 1] = { heading = line, lines = {} }
    elseif line ~= "" then
      table.insert(examples[#examples].lines, line)
    end
  end
  return examples
end

local function write(path)
  local texts = {}
  for _, example in ipairs(examples_in(path)) do
    local rerun_lines = run_again(example.lines)
    texts[#texts + 1] = example.heading .. "\n" .. table.concat(rerun_lines, "\n") .. "\n"
  end
  local file = assert(io.open(path, "w"))
  file:write(table.concat(texts, "\n")):close()
end

if arg[1] == "--write" then
  for i = 2, #arg do write(arg[i]) end
  return
end

local listing = cr.listing()
local name_count = check_names(listing)
local checked_sessions, error_count = {}, 0
local function check(row)
  local session = (row.example or "") .. (row.errors or "")
  if session == "" or checked_sessions[session] then return end
  checked_sessions[session] = true
  error_count = error_count + (row.errors and 1 or 0)
  local rerun_lines, agrees = run_again(lines_of(session))
  if not agrees then
    add_problem("%s\n  says\n%s\n  and gives\n%s", row.path or row.name, session,
      table.concat(rerun_lines, "\n"))
  end
end
for _, row in ipairs(listing.functions) do check(row) end
for _, row in ipairs(listing.classes) do check(row) end
for _, kind in ipairs(listing.types) do
  check(kind)
  for _, row in ipairs(kind.methods) do check(row) end
end
local example_count = 0
for _ in pairs(checked_sessions) do example_count = example_count + 1 end
print(string.format("%d names, %d examples, %d with errors", name_count, example_count,
  error_count))
assert(example_count > 700, "the examples are not beside the plugins")
assert(#problems == 0, "\n" .. table.concat(problems, "\n"))
