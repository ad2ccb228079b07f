-- Files written for Keras 2.3.1, such that training continues there with the same numbers, and
-- warnings when saving.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers

local function file_bytes(path)
  local file = assert(io.open(path, "rb"))
  local content = file:read "a"
  file:close()
  os.remove(path)
  return content
end

-- Nadam is written such that its momentum grows as in Keras 3; without schedule_decay, Keras 2
-- would let it grow more slowly.
do
  local x, y = cr.random.normal { 8, 3 }, cr.random.normal { 8, 2 }
  local function bytes_of_file_with(optimizer)
    local model = cr.Sequential { cr.Input { shape = { 3 } }, layers.Dense(2) }
    model:compile { optimizer = optimizer, loss = "mse" }
    model:fit(x, y, { verbose = 0 })
    local path = check.temporary ".h5"
    model:save(path, { target = "keras2" })
    local loaded_model = cr.models.load_model(path)
    check.near(loaded_model:train_on_batch(x, y), model:train_on_batch(x, y))
    check.near(loaded_model:predict(x), model:predict(x))
    return file_bytes(path)
  end
  assert(bytes_of_file_with(cr.optimizers.Nadam(0.01)):find('"schedule_decay": 1.0', 1, true))
  assert(bytes_of_file_with(cr.optimizers.Nadam(0.01, { schedule_decay = 0.004 }))
    :find('"schedule_decay": 0.004', 1, true))
end

do -- warnings of differences if Keras 2.3.1 runs on Theano
  local function warning_of(layer, optimizer)
    local path = check.temporary ".h5"
    local _, text = check.run(string.format([[
      local model = cr.Sequential { cr.Input { shape = { 6, 6, 2 } }, %s, cr.layers.Flatten(),
        cr.layers.Dense(1) }
      model:compile { optimizer = %s, loss = "mse" }
      model:save("%s", { target = "keras2" })]], layer, optimizer, path))
    os.remove(path)
    return text
  end
  local turning_text, padding_text = "turns kernels of convolutions", "at other ends"
  local conv_code = "cr.layers.Conv2D(3, 3)"
  assert(warning_of(conv_code, "cr.optimizers.SGD(0.1, { momentum = 0.9 })"):find(turning_text, 1,
    true))
  assert(warning_of(conv_code, "'adam'"):find(turning_text, 1, true))
  local warning = warning_of(conv_code, "'sgd'")
  assert(not warning:find(turning_text, 1, true) and not warning:find(padding_text, 1, true),
    warning)
  assert(not warning_of("cr.layers.Dense(3)", "'adam'"):find(turning_text, 1, true))
  assert(warning_of("cr.layers.Conv2D(3, 2, { padding = 'same' })", "'sgd'"):find(padding_text, 1,
    true))
  assert(not warning_of("cr.layers.Conv2D(3, 3, { padding = 'same' })", "'sgd'"):find(padding_text,
    1,
    true))
end
