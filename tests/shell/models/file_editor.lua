-- Weight files are inspected and changed by cr.saving.KerasFileEditor.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
cr.utils.set_random_seed(2)

-- Returns what the function prints as one text, and the results of the function.
local function capture_print(f)
  local lines, original_print = {}, print
  print = function(...) lines[#lines + 1] = table.concat({ ... }, "\t") end
  local result = table.pack(pcall(f))
  print = original_print
  assert(result[1], result[2])
  return table.concat(lines, "\n"), table.unpack(result, 2, result.n)
end
local function open_editor(path)
  local _, editor = capture_print(function() return cr.saving.KerasFileEditor(path) end)
  return editor
end
local function read_bytes(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "a"
  file:close()
  return bytes
end

local function make_model(outer_name)
  local inner = cr.Sequential({ layers.Dense(3, { input_shape = { 4 } }), layers.Dropout(0.5) },
    { name = "inner" })
  local model = cr.Sequential { cr.Input { shape = { 4 } }, inner,
    layers.Dense(2, { name = outer_name or "outer" }), layers.Reshape { 2, 1 },
    layers.LSTM(2) }
  model:compile { optimizer = "adam", loss = "mse" }
  return model
end
local model = make_model()
model:fit(cr.random.normal { 8, 4 }, cr.random.normal { 8, 2 }, { verbose = 0 })
local x = cr.random.normal { 5, 4 }

for _, ending in ipairs { ".weights.h5", ".keras" } do
  local path, copy_path = check.temporary(ending), check.temporary ".weights.h5"
  if ending == ".keras" then model:save(path) else model:save_weights(path) end
  local bytes = read_bytes(path)
  local text, editor = capture_print(function() return cr.saving.KerasFileEditor(path) end)
  assert(text:find("Keras model file '" .. path .. "'", 1, true))
  assert((editor.config ~= nil) == (ending == ".keras"))
  if ending == ".keras" then
    check.same(editor.config.class_name, "Sequential")
    assert(text:find("Saved with Keras " .. editor.metadata.keras_version, 1, true))
  end

  do -- a copy has everything: nested models, cells, the optimizer's state, names
    check.near(editor.weights_dict.layers.sequential.layers.dense["0"],
      model.layers[1].layers[1].kernel, 0)
    check.same(editor.object_metadata["layers/dense"].name, "outer")
    check.same(editor.object_metadata["layers/sequential/layers/dropout"].name,
      model.layers[1].layers[2].name)
    editor:save(copy_path)
    assert(read_bytes(path) == bytes)
    local other_model = make_model()
    other_model:load_weights(copy_path)
    check.near(other_model:predict(x), model:predict(x), 0)
    for i, variable in ipairs(other_model.optimizer.variables) do
      check.near(variable, model.optimizer.variables[i], 0, "the optimizer")
    end
    local reopened = open_editor(copy_path)
    check.same(reopened.object_metadata["layers/dense"].name, "outer")
    local report, result = capture_print(function() return editor:compare(model) end)
    check.same(result.status, "success")
    check.same(result.error_count, 0)
    check.same(result.match_count, #model.weights + #model.optimizer.variables)
    assert(report:find("Comparison successful", 1, true))
  end

  local summary = capture_print(function() editor:summary() end)
  assert(summary:find(" layers\n", 1, true) and summary:find("dense ('outer')", 1, true)
    and summary:find("0: shape=(4, 3), dtype=float32", 1, true), summary)
  assert(not summary:find("dropout", 1, true))

  do -- objects and weights are renamed, added and deleted
    editor:rename_object("layers/dense", "dense_7")
    editor:rename_object("sequential", "block")
    assert(editor.weights_dict.layers.dense == nil)
    check.near(editor.weights_dict.layers.dense_7["0"], model.layers[2].kernel, 0)
    editor:add_object("layers/dense_8", { ["0"] = cr.ones { 2, 2 }, ["1"] = { 3, 4 } })
    editor:add_weights("dense_8", { ["2"] = cr.zeros { 1 } })
    editor:delete_weight("layers/dense_8", "1")
    editor:delete_object "optimizer"
    editor:save(copy_path)
    local edited_copy = open_editor(copy_path)
    check.near(edited_copy.weights_dict.layers.dense_7["1"], model.layers[2].bias, 0)
    check.same(edited_copy.object_metadata["layers/dense_7"].name, "outer")
    check.near(edited_copy.weights_dict.layers.dense_8["0"], { { 1, 1 }, { 1, 1 } }, 0)
    check.same(edited_copy.weights_dict.layers.dense_8["1"], nil)
    check.near(edited_copy.weights_dict.layers.dense_8["2"], { 0 }, 0)
    check.near(edited_copy.weights_dict.layers.block.layers.dense["1"],
      model.layers[1].layers[1].bias, 0)
    check.same(edited_copy.weights_dict.optimizer, nil)
    local report, result = capture_print(function() return edited_copy:compare(model) end)
    check.same(result.status, "error")
    assert(report:find("...Object /layers/sequential present in reference model, missing from "
      .. "saved file", 1, true))
    assert(report:find("Object /layers/dense_8 present in saved file", 1, true))
    -- Three objects are missing (optimizer, dense, sequential) and three are unknown (dense_7,
    -- dense_8, block).
    check.same(result.error_count, 6)
    edited_copy:delete_object "dense_8"
    edited_copy:rename_object("dense_7", "dense")
    edited_copy:rename_object("block", "sequential")
    edited_copy:resave_weights(copy_path)
    local other_model = make_model()
    other_model:load_weights(copy_path)
    check.near(other_model:predict(x), model:predict(x), 0)
  end

  do -- a weight of another shape is an error
    local changed_editor = open_editor(path)
    changed_editor:add_weights("layers/dense", { ["1"] = cr.zeros { 3 } })
    local report, result = capture_print(function() return changed_editor:compare(model) end)
    check.same(result.error_count, 1)
    assert(report:find("...Weight shape mismatch for /layers/dense/1", 1, true)
      and report:find("In saved file: shape=(3,)", 1, true), report)
  end

  -- errors for invalid arguments
  local reopened = open_editor(path)
  check.fails(function() reopened:rename_object("dense", "x") end, "occurs more than once",
    "layers/dense", "layers/sequential/layers/dense")
  check.fails(function() reopened:rename_object("optimizer", "a/b") end, "leaf name")
  check.fails(function() reopened:rename_object("layers/dense", "lstm") end,
    "there is an object 'lstm' beside 'dense' already")
  check.fails(function() reopened:delete_object "optimizr" end,
    "does not appear in the model", "did you mean 'optimizer'?")
  check.fails(function() reopened:delete_object "layers/dens" end, "not found in model")
  check.fails(function() reopened:delete_weight("layers/dense", "9") end,
    "Weight 9 not found in object layers/dense. Weights found: ['0', '1']")
  check.fails(function() reopened:add_object("layrs/dense", {}) end, "Path 'layrs' not found")
  check.fails(function() reopened:add_weights("layers/dense", { cr.zeros { 1 } }) end,
    "should be a table where keys are weight names")
  check.fails(function() reopened:save "weights.h5" end, "expected a `.weights.h5` extension")
  check.fails(function() reopened:save "/nowhere/at/all.weights.h5" end, "/nowhere")
  assert(read_bytes(path) == bytes)
  os.remove(path)
  os.remove(copy_path)
end

do -- the copy of a file contains the vocabulary of a layer
  local path, copy_path = check.temporary ".weights.h5", check.temporary ".weights.h5"
  local function text_model() return cr.Sequential { cr.Input { shape = { 1 }, dtype = "string" },
    layers.StringLookup { vocabulary = { "a", "b" } }, layers.Embedding(4, 2) } end
  local first_model = text_model()
  first_model:save_weights(path)
  open_editor(path):save(copy_path)
  local second_model = text_model()
  second_model:load_weights(copy_path)
  check.near(second_model:predict(cr.tensor { { "b" } }),
    first_model:predict(cr.tensor { { "b" } }), 0)
  os.remove(path)
  os.remove(copy_path)
end

check.fails(function() cr.saving.KerasFileEditor "model.h5" end, "Invalid filename",
  "filepath=model.h5")
check.fails(function() cr.saving.KerasFileEditor "/nowhere/m.keras" end, "/nowhere/m.keras")

print "ok file_editor"
