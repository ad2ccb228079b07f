-- Layers inside other layers are quantized or get LoRA adapters. Models of every form that contain
-- such layers are saved to and loaded from every kind of file, in another process too, made from
-- configurations, and cloned; the copies predict exactly the same.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local cr = require "crescent"
local layers, quantizers = cr.layers, cr.quantizers

local x = cr.random.uniform({ 3, 5, 4 }, -1, 1, { seed = 1 })
local words = cr.ops.cast(cr.random.uniform({ 3, 5 }, 0, 6, { seed = 2 }), "int32")

-- ---- layers in Lua that hold layers

--- A layer whose sublayers are made by init.
local InitLayer = layers.Layer:subclass "Early"
function InitLayer:init()
  self.dense = layers.Dense(4, { name = "dense" })
  self.attention = layers.MultiHeadAttention(2, 3, { name = "attention" })
end
function InitLayer:call(inputs) return self.dense(inputs) + self.attention(inputs, inputs) end

--- A layer whose sublayers are made by build; one of them is in a wrapper.
local BuildLayer = layers.Layer:subclass "Late"
function BuildLayer:build()
  self.wrapped = layers.TimeDistributed(layers.Dense(4, { name = "dense" }), { name = "wrapped" })
  self.conv = layers.Conv1D(4, 2, { padding = "causal", name = "conv" })
end
function BuildLayer:call(inputs) return self.wrapped(inputs) + self.conv(inputs) end

--- A layer that holds two layers of Lua classes, which hold layers in turn.
local OuterLayer = layers.Layer:subclass "Outer"
function OuterLayer:init()
  self.early, self.late = InitLayer { name = "early" }, BuildLayer { name = "late" }
end
function OuterLayer:call(inputs) return self.early(inputs) + self.late(inputs) end

--- A cell for the layer RNN that holds a layer.
local DenseCell = layers.Layer:subclass "Cell"
function DenseCell:init() self.state_size, self.dense = 4, layers.Dense(4, { name = "dense" }) end
function DenseCell:call(inputs, states)
  local output = self.dense(inputs) + states[1] * 0.5
  return output, { output }
end

local AttentionModel = cr.Model:subclass "Derived"
function AttentionModel:init()
  self.attention = layers.MultiHeadAttention(2, 2, { name = "attention" })
end
function AttentionModel:call(inputs) return self.attention(inputs, inputs) end

-- ---- models of every form that contain these layers

local function sequence_model(...) return cr.Sequential { layers.Input { shape = { 5, 4 } },
  ... } end
local function word_model(layer)
  return cr.Sequential { layers.Input { shape = { 5 }, dtype = "int32" }, layer }
end
local function attention_model(layer)
  local input = layers.Input { shape = { 5, 4 } }
  return cr.Model(input, layer(input, input))
end

local model_makers = {
  dense = function() return sequence_model(layers.Dense(4)) end,
  einsum = function() return sequence_model(layers.EinsumDense("abc,cd->abd", { -1, 4 })) end,
  conv = function() return sequence_model(layers.Conv1D(4, 2)) end,
  embedding = function() return word_model(layers.Embedding(6, 4)) end,
  reversible = function() return word_model(layers.ReversibleEmbedding(6, 4)) end,
  attention = function() return attention_model(layers.MultiHeadAttention(2, 3)) end,
  grouped = function() return attention_model(layers.GroupedQueryAttention(3, 4, 2)) end,
  wrapped = function() return sequence_model(layers.TimeDistributed(layers.Dense(4))) end,
  cells = function() return sequence_model(layers.RNN(DenseCell())) end,
  both_ways = function() return sequence_model(layers.Bidirectional(layers.RNN(DenseCell()))) end,
  nested = function()
    return sequence_model(cr.Sequential { layers.Dense(4), layers.Dense(3) }, layers.Dense(2))
  end,
  nested_attention = function()
    return sequence_model(attention_model(layers.MultiHeadAttention(2, 3)), layers.Dense(2))
  end,
  early = function() return sequence_model(InitLayer()) end,
  late = function() return sequence_model(BuildLayer()) end,
  outer = function() return sequence_model(OuterLayer()) end,
  derived = function() return AttentionModel() end,
}
local function data_for(name)
  return (name == "embedding" or name == "reversible") and words or x
end

-- ---- the ways to change the layers: quantizing and adapting

local function each_layer(layer, f)
  f(layer)
  for _, sublayer in ipairs(layer.sublayers) do each_layer(sublayer, f) end
end

local function quantize_with(mode)
  return function(model)
    model:quantize(type(mode) == "function" and mode() or mode)
  end
end

local function add_adapters(model)
  each_layer(model, function(layer)
    local has_lora, enabled = pcall(function() return layer.lora_enabled end)
    if not has_lora or enabled ~= false then return end
    layer:enable_lora(2, { lora_alpha = 3 })
    for _, weight in ipairs(layer.trainable_weights) do
      weight:assign(cr.random.uniform(weight.shape, -1, 1, { seed = 3 }))
    end
  end)
end

local changes = {
  int8 = quantize_with "int8",
  int4 = quantize_with "int4",
  columns = quantize_with(function()
    return quantizers.Int4QuantizationConfig { block_size = -1 }
  end),
  blocks = quantize_with(function()
    return quantizers.Int4QuantizationConfig { block_size = 2 }
  end),
  one_block = quantize_with(function()
    return quantizers.Int4QuantizationConfig { block_size = cr.null }
  end),
  only_weights = quantize_with(function()
    return quantizers.Int8QuantizationConfig { activation_quantizer = cr.null }
  end),
  lora = add_adapters,
  both = function(model)
    model:quantize "int8"
    add_adapters(model)
  end,
}

local function changed_model(name, change)
  cr.utils.set_random_seed(4)
  cr.clear_session() -- names are counted from 1 in every process
  local model = model_makers[name]()
  model(data_for(name))
  if name ~= "conv" or change == "lora" then changes[change](model) end
  return model
end

-- ---- saving, loading and cloning the changed models

local function predictions(model, name) return model:predict(data_for(name), { verbose = 0 }) end

--- Whether files of this kind store the sum of a weight and its adapter, which is rounded.
local function stores_merged_weights(ending, change)
  return (ending == ".keras" or ending == ".weights.h5")
    and (change == "lora" or change == "both")
end

local function expect_same(got, expected, what, tolerance)
  local distance = cr.ops.max(cr.ops.abs(got - expected)):item()
  assert(distance <= tolerance, ("%s: differs by %g"):format(what, distance))
end

local function each_case(f)
  for name in pairs(model_makers) do
    for change in pairs(changes) do f(name, change) end
  end
end

local function path_of(folder, name, change, ending)
  return ("%s/%s_%s%s"):format(folder, name, change, ending)
end

local model_endings, weight_endings = { ".keras", ".h5" }, { ".weights.h5", ".safetensors", ".npz" }

local function check_files(folder)
  each_case(function(name, change)
    local model = changed_model(name, change)
    local expected = predictions(model, name)
    for _, ending in ipairs(model_endings) do
      local tolerance = stores_merged_weights(ending, change) and 0.3 or 0
      local loaded_model = cr.models.load_model(path_of(folder, name, change, ending))
      expect_same(predictions(loaded_model, name), expected, name .. " " .. change .. ending,
        tolerance)
    end
    for _, ending in ipairs(weight_endings) do
      local tolerance = stores_merged_weights(ending, change) and 0.3 or 0
      local reloaded = cr.models.clone_model(model)
      reloaded(data_for(name))
      reloaded:load_weights(path_of(folder, name, change, ending))
      expect_same(predictions(reloaded, name), expected, name .. " " .. change .. ending, tolerance)
    end
  end)
end

local function check_copies(model, name, what)
  local expected, weights = predictions(model, name), model:get_weights()
  for copy_kind, copy in pairs {
    clone = function() return cr.models.clone_model(model) end,
    json = function() return cr.models.model_from_json(model:to_json()) end,
    config = function()
      return cr.models.model_from_json(cr.models.clone_model(model):to_json())
    end,
  } do
    local copied_model = copy()
    copied_model(data_for(name))
    copied_model:set_weights(weights)
    expect_same(predictions(copied_model, name), expected, ("%s: %s"):format(what, copy_kind), 0)
  end
end

if arg[1] then return check_files(arg[1]) end

local folder = os.tmpname()
os.remove(folder)
assert(os.execute("mkdir " .. folder))
local ok, message = xpcall(function()
  each_case(function(name, change)
    local model = changed_model(name, change)
    check_copies(model, name, name .. " " .. change)
    for _, ending in ipairs(model_endings) do model:save(path_of(folder, name, change, ending)) end
    for _, ending in ipairs(weight_endings) do
      model:save_weights(path_of(folder, name, change, ending))
    end
  end)
  assert(os.execute(("'%s' '%s' '%s'"):format(arg[-1], arg[0], folder)), "another process fails")
end, debug.traceback)
os.execute("rm -r " .. folder)
assert(ok, message)
