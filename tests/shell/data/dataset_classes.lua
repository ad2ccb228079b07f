-- Classes of datasets written in Lua; their objects return batches by number, like PyDataset of
-- Keras.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/data"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"

local RowDataset = cr.data.Dataset:subclass("Rows", { { "count", 4, "How many." } })
function RowDataset:init() self.order, self.begun, self.ended = {}, 0, 0 end

function RowDataset:len() return self.count end

function RowDataset:get(number)
  self.order[#self.order + 1] = number
  return cr.full({ 2, 1 }, number), cr.full({ 2, 1 }, 2 * number)
end

function RowDataset:on_epoch_begin() self.begun = self.begun + 1 end

function RowDataset:on_epoch_end() self.ended = self.ended + 1 end

local function compiled_model()
  local model = cr.Sequential { cr.layers.Dense(1, {
    use_bias = false, input_shape = { 1 }, kernel_initializer = "ones" }) }
  model:compile { optimizer = cr.optimizers.SGD(0.001), loss = "mse" }
  return model
end

local function list_text(list) return table.concat(list, " ") end

local function sorted_text(list, first)
  local sorted_part = table.move(list, first, first + 3, 1, {})
  table.sort(sorted_part)
  return list_text(sorted_part)
end

do -- an object of a dataset class in Lua has the methods of every dataset
  local data = RowDataset(3)
  check.same(tostring(data), "<Rows: 3 elements>")
  check.same(data.class_name, "Rows")
  check.same(data.batches, 3)
  local sum = 0
  for x, y in data:map(function(x, y) return x + y end):elements() do
    check.same(y, nil)
    sum = sum + x:slice(1, 1):item()
  end
  check.same(sum, 18)
  check.same(list_text(data.order), "1 2 3")
  check.same(cr.utils.PyDataset, cr.data.Dataset)
  check.same(cr.utils.Sequence, cr.data.Dataset)
end

do -- evaluate, predict and validation read the batches in order
  local model, data = compiled_model(), RowDataset()
  check.near(model:evaluate(data, { verbose = 0 }), (1 + 4 + 9 + 16) / 4)
  check.same(model:predict(data, { verbose = 0 }).shape[1], 8)
  check.same(list_text(data.order), "1 2 3 4 1 2 3 4")
  local history = model:fit(RowDataset(), { epochs = 1, verbose = 0, validation_data = data })
  check.same(#history.history.val_loss, 1)
  check.same(list_text(data.order), "1 2 3 4 1 2 3 4 1 2 3 4")
  check.same(data.begun, 3)
  check.same(data.ended, 3)
end

do -- fit shuffles the batches: a new order in each epoch, and the same orders after the same seed
  local function epoch_orders(options)
    cr.utils.set_random_seed(3)
    local data = RowDataset(4)
    options.epochs, options.verbose = 6, 0
    compiled_model():fit(data, options)
    check.same(data.begun, 6)
    check.same(data.ended, 6)
    for epoch = 0, 5 do check.same(sorted_text(data.order, 4 * epoch + 1), "1 2 3 4") end
    return list_text(data.order)
  end
  local shuffled_orders = epoch_orders {}
  check.same(epoch_orders { shuffle = true }, shuffled_orders)
  local in_order = "1 2 3 4"
  check.same(epoch_orders { shuffle = false }, in_order .. (" " .. in_order):rep(5))
  local distinct_count, seen_orders = 0, {}
  for epoch = 0, 5 do
    local order = shuffled_orders:sub(8 * epoch + 1, 8 * epoch + 7)
    if not seen_orders[order] then distinct_count, seen_orders[order] = distinct_count + 1, true end
  end
  assert(distinct_count > 2)
end

do -- a resumed run reads batches in the order of an uninterrupted run, and requests no batch twice
  local path = check.temporary "dataset_run.h5"
  local function start_run(model, data, is_resumed)
    local training = model:start_training(data, { epochs = 2, verbose = 0 })
    if is_resumed then training:load(path) end
    return training
  end
  cr.utils.set_random_seed(5)
  local unbroken_model, data = compiled_model(), RowDataset()
  local training = start_run(unbroken_model, data)
  training:advance(2)
  training:save(path)
  training:finish()
  cr.utils.set_random_seed(6)
  local resumed_model, resumed_data = compiled_model(), RowDataset()
  start_run(resumed_model, resumed_data, true):finish()
  check.same(list_text(resumed_data.order), list_text(table.move(data.order, 3, 8, 1, {})))
  check.same(resumed_model.weights[1].value:item(), unbroken_model.weights[1].value:item())
  os.remove(path)
end

do -- named inputs, sample weights, and a number of batches that changes between epochs
  local NamedInputDataset = RowDataset:subclass "Named"
  function NamedInputDataset:get(number)
    local x, y = NamedInputDataset.super.get(self, number)
    return { left = x, right = x }, y, cr.zeros { 2 }
  end

  function NamedInputDataset:on_epoch_end() self.count = self.count + 1 end

  local left, right = cr.Input { shape = { 1 }, name = "left" }, cr.Input { shape = { 1 },
    name = "right" }
  local model = cr.Model { inputs = { left = left, right = right },
    outputs = cr.layers.Add() { left, right } }
  model:compile { loss = "mse" }
  local data = NamedInputDataset(1)
  check.same(model:evaluate(data, { verbose = 0 }), 0)
  check.same(list_text(data.order), "1")
  model:evaluate(data, { verbose = 0 })
  check.same(list_text(data.order), "1 1 2")
end

do -- errors name the class and the batch
  local model = compiled_model()
  local function check_fit_fails(methods, ...)
    local BrokenDataset = cr.data.Dataset:subclass "Broken"
    for name, method in pairs(methods) do BrokenDataset[name] = method end
    local messages = { ... }
    check.fails(function() model:fit(BrokenDataset(), { verbose = 0 }) end, "Broken",
      table.unpack(messages))
  end
  local function get_two() return 2 end
  check_fit_fails({ get = get_two }, "the class has no len()", "it defines get")
  check_fit_fails({ len = get_two }, "the class has no get()", "it defines len")
  check_fit_fails({ len = function() return "2" end }, "len()", "expected a number of batches")
  check_fit_fails({ len = function() return -1 end }, "len()", "expected a number of batches")
  check_fit_fails({ len = get_two, get = function() end }, "get(",
    "expected x, y, sample_weight", "got nothing")
  check_fit_fails({ len = get_two, get = function() error "no such file" end }, "get(",
    "no such file")
  check_fit_fails({ len = get_two, get = get_two, on_epoch_begin = function() error "not now" end },
    "not now")
  check.fails(function() cr.data.Dataset() end, "Dataset has no behaviour of its own")
  local PathDataset = cr.data.Dataset:subclass("Plain", { { "path", "here" } })
  check.fails(function() PathDataset { paht = "there" } end, "Plain: no option 'paht'",
    "did you mean 'path'")
  check.fails(function() cr.data.Dataset:subclass("Mine", { "get" }) end, "a method of Dataset")
  check.fails(function() model:fit(RowDataset(), cr.ones { 2 }) end, "`y` should not be passed")
end

do -- an object whose len() fails can be printed, and so can datasets made from it
  local BareDataset = cr.data.Dataset:subclass "Bare"
  local data = BareDataset()
  check.same(tostring(data), "<Bare: of unknown length>")
  check.same(tostring(data:map(function(x) return x end)), "<Dataset: of unknown length>")
  check.fails(function() return data.batches end, "Bare: the class has no len()")
  function BareDataset:len() error { "a table" } end

  check.same(tostring(BareDataset()), "<Bare: of unknown length>")
  function BareDataset:len() return #self end

  check.same(tostring(BareDataset()), "<Bare: of unknown length>")
end
