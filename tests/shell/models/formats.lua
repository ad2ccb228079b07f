-- File formats that are written in Lua.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/models"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"

local function write_file(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

local function read_file(path)
  local file <close> = io.open(path, "rb")
  return file and file:read "a"
end

--- A format for arrays as text: a line "numbers", then name, shape and numbers of each array.
local TextFormat = cr.saving.Format:subclass("Plain", { { "digits", 9, "Significant digits." } })
TextFormat.endings, TextFormat.signatures = ".plain", "numbers\n"

local function text_of(arrays, digits)
  local lines, names = { "numbers" }, {}
  for name in pairs(arrays) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local array, numbers = arrays[name], {}
    for i, number in ipairs(array:reshape { -1 }:totable()) do
      numbers[i] = string.format("%." .. digits .. "g", number)
    end
    lines[#lines + 1] = ("%q %s: %s"):format(name, table.concat(array.shape, " "),
      table.concat(numbers, " "))
  end
  return table.concat(lines, "\n") .. "\n"
end

local function read_arrays(path)
  local arrays = {}
  for name, shape, numbers in read_file(path):gmatch '"([^"]*)" ([%d ]*): ([^\n]*)\n' do
    local sizes, list = {}, {}
    for size in shape:gmatch "%d+" do sizes[#sizes + 1] = math.tointeger(tonumber(size)) end
    for number in numbers:gmatch "%S+" do list[#list + 1] = tonumber(number) end
    arrays[name] = cr.tensor(list):reshape(sizes)
  end
  return arrays
end

function TextFormat:read_arrays(path) return read_arrays(path) end

function TextFormat:write_arrays(path, arrays) write_file(path, text_of(arrays, self.digits)) end

function TextFormat:save_weights(model, path)
  local arrays = {}
  for i, weight in ipairs(model.weights) do arrays[("%03d"):format(i)] = weight.value end
  self:write_arrays(path, arrays)
end

function TextFormat:load_weights(model, path)
  local arrays = read_arrays(path)
  for i, weight in ipairs(model.weights) do weight:assign(arrays[("%03d"):format(i)]) end
end

local function new_model(units)
  return cr.Sequential { cr.layers.Dense(units, { input_shape = { 3 } }) }
end

do -- the format is found by the file's ending for writing, and by its first bytes for reading
  local path, other_path = check.temporary "weights.plain", check.temporary "weights.other"
  local model, loaded_model = new_model(2), new_model(2)
  model:save_weights(path)
  check.same(read_file(path):sub(1, 8), "numbers\n")
  loaded_model:load_weights(path)
  check.near(loaded_model.weights[1].value, model.weights[1].value, 1e-7)
  os.rename(path, other_path)
  new_model(2):load_weights(other_path)
  check.same(cr.data.open(other_path, "001").shape[2], 2)
  check.fails(function() return cr.data.open(other_path, "7") end, other_path, "no array '7'",
    "it has 001, 002")
  os.remove(other_path)
end

do -- the options of the format class are options of save_weights
  local path = check.temporary "weights.plain"
  local model = new_model(1)
  model.weights[1]:assign(cr.full({ 3, 1 }, 1 / 3))
  model:save_weights(path, { digits = 2 })
  assert(read_file(path):find "0.33 0.33 0.33\n")
  check.fails(function() model:save_weights(path, { digit = 2 }) end, "no option 'digit'", "digits")
  os.remove(path)
end

do -- the error for an ability that the format lacks names formats that have it
  local path = check.temporary "model.plain"
  check.fails(function() new_model(1):save(path) end, path,
    "files of format Plain do not hold models", "formats that hold models")
end

do -- a file is replaced as a whole or not at all; errors name class and path
  local FailingFormat = TextFormat:subclass "Torn"
  FailingFormat.endings, FailingFormat.signatures = { ".torn" }, { "torn" }
  function FailingFormat:save_weights(_, path)
    write_file(path, "half")
    error "the disk is full"
  end

  local path = check.temporary "weights.torn"
  write_file(path, "torn before")
  check.fails(function() new_model(1):save_weights(path) end, path, "Torn: save_weights()",
    "the disk is full")
  check.same(read_file(path), "torn before")
  function FailingFormat:save_weights() end

  check.fails(function() new_model(1):save_weights(path) end, path, "the format wrote no file")
  function FailingFormat:load_weights() error "not now" end

  check.fails(function() new_model(1):load_weights(path) end, path, "Torn: load_weights()",
    "not now")
  function FailingFormat:read_arrays() return { 3 } end

  check.fails(function() return cr.data.open(path, "a") end, path, "Torn: read_arrays()",
    "the name of an array")
  os.remove(path)
end

do -- a format that saves whole models
  local ModelFormat = cr.saving.Format:subclass "Whole"
  ModelFormat.endings, ModelFormat.signatures = { ".whole" }, { "whole" }
  function ModelFormat:save_model(model, path)
    write_file(path, "whole" .. model:to_json())
    model:save_weights(path .. ".plain")
  end

  function ModelFormat:load_model(path)
    local model = cr.models.model_from_json(read_file(path):sub(6))
    model:load_weights(path .. ".plain")
    return model
  end

  local path = check.temporary "model.whole"
  local model = new_model(2)
  model:save(path)
  local loaded_model = cr.models.load_model(path)
  check.near(loaded_model:predict(cr.ones { 1, 3 }), model:predict(cr.ones { 1, 3 }), 1e-6)
  function ModelFormat:load_model() return 3 end

  check.fails(function() cr.models.load_model(path) end, path, "Whole: load_model()",
    "expected a model")
  os.remove(path)
  os.remove(path .. ".plain")
end

do -- errors in the declaration of a format are reported where it is declared
  local WrongFormat = cr.saving.Format:subclass "Wrong"
  check.fails(function() WrongFormat.endings = "plain" end, "Wrong: endings", "such as \".plain\"")
  check.fails(function() WrongFormat.signatures = { "" } end, "Wrong: signatures", "first bytes")
  check.fails(function() cr.saving.Format() end, "Format has no behaviour of its own")
  check.fails(function() cr.saving.Format:subclass("Wrong", { "save_model" }) end,
    "a method of Format")
end
