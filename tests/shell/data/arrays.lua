-- Errors for invalid arrays: sizes, shapes, positions and operators; labels and ids out of range;
-- arrays without elements.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers

-- shapes are tables of sizes
local function randint(shape) return cr.random.randint(shape, 0, 5) end
for _, draw in ipairs { cr.random.normal, cr.random.uniform, cr.random.truncated_normal,
  randint } do
  check.fails(function() draw(3, 4) end, "shapes are tables", "{3}", "{3, ...}")
  check.fails(function() draw({ -1, 2 }, 0, 1) end, "-1", "size of every axis")
end
for _, make in ipairs { cr.zeros, cr.ones, function(shape) return cr.full(shape, 1) end } do
  check.fails(function() make(3) end, "shapes are tables")
  check.fails(function() make { -1, 2 } end, "-1", "size of every axis")
  check.fails(function() make { 2, -3 } end, "-3")
  check.fails(function() make { 1 << 40, 1 << 40 } end, "too many elements")
  check.fails(function()
    make { 1 << 30, 1 << 20 }
  end, "not enough memory", tostring((1 << 50) * 4))
end
check.same(cr.random.normal({ 3, 4 }, 5).shape, { 3, 4 })
check.same(cr.compiled(function(x) return cr.zeros(x.shape) end)(cr.ones { 2, 3 }).shape, { 2, 3 })
check.fails(function() cr.random.SeedGenerator(1):normal(3) end, "shapes are tables")

-- errors for sizes that do not fit in memory
check.fails(function() cr.linspace(0, 1, 1 << 50) end, "linspace", "elements are too many")
check.fails(function() cr.arange(1 << 50) end, "not enough memory", tostring(1 << 53))
check.fails(function() cr.arange(1e300) end, "too many")
check.fails(function() cr.random.permutation(1 << 50) end, "permutation")
check.fails(function() cr.random.permutation(1 << 32) end, "not enough memory", tostring(1 << 35))
check.fails(function()
  cr.utils.pad_sequences({ { 1 } }, { maxlen = 1 << 50 })
end, "not enough memory", tostring(1 << 53))
check.fails(function()
  cr.utils.pad_sequences({ { 1 }, { 2 } }, { maxlen = 1 << 62 })
end, "too many elements")
check.fails(function() cr.utils.to_categorical(cr.tensor { 1 }, 1 << 50) end, "not enough memory")
check.fails(function() cr.ops.one_hot(cr.tensor({ 1 }, "int32"), 1 << 60) end, "not enough memory")
check.fails(function() cr.eye(1 << 40) end)
check.fails(function() cr.ops.tile(cr.ones { 2 }, { 1 << 50 }) end, "not enough memory")
check.same(layers.MaxPooling2D({ pool_size = 100000, padding = "same" })(cr.ones { 1, 2, 2,
  1 }):totable(), { { { { 1 } } } })

-- an empty table is accepted as options
assert(layers.Dense(256, {}).units == 256 or layers.Dense(256, {}):get_config().units == 256)
check.near(cr.optimizers.Adam(1e-2, {}):get_config().learning_rate, 1e-2)
check.fails(function() layers.Conv2D(3, {}) end, "kernel_size")
local DoublingLayer = cr.Layer:subclass "Doubled"
function DoublingLayer:init(config) self.factor = config[1] or config.factor or 2 end
function DoublingLayer:call(x) return x * 2 end
check.same(DoublingLayer(3, {})(cr.ones { 2 }):totable(), { 2, 2 })
local model = cr.Sequential({ layers.Dense(1, { input_shape = { 2 } }) }, {})
model:compile("sgd", "mse", {})
model:fit(cr.ones { 4, 2 }, cr.ones { 4, 1 }, { verbose = 0 })
check.same(model:predict(cr.ones { 4, 2 }, {}).shape, { 4, 1 })

-- errors for operators whose operands do not fit
local t = cr.tensor { { 1, 2 }, { 3, 4 } }
check.fails(function() return t[{ 1, 2, 1 }] end, "3 axes", "(2, 2)")
check.fails(function() return t < 2 end, "cr.ops.less(")
check.fails(function() return t >= t end, "greater_equal")
check.fails(function() return 2 < cr.Variable(t) end, "cr.ops.less(")
check.fails(function() return "t: " .. t end, "tostring(t)")
check.fails(function() return t & 1 end, "tensor: no operator &")
check.fails(function() return t() end, "tensor: no call")
check.fails(function() for _ in pairs(cr.tensor(1)) do end end, "item()")
local dense = layers.Dense(1)
check.fails(function() return dense + 1 end, ": no operator +")
check.fails(function() return #dense end, ": no length")
check.fails(function() return dense .. "" end, "tostring(...)")
check.fails(function() return dense < dense end, ": no order")
check.fails(function() return cr.optimizers.SGD()(1) end, "not a function")
check.fails(function() return #cr.Input { 2 } end, "symbol: no length")

-- a recurrent cell is called on a single step
for name, state_count in pairs { SimpleRNNCell = 1, GRUCell = 1, LSTMCell = 2 } do
  local cell = layers[name](2)
  check.fails(function() cell(cr.ones { 2, 3 }) end, name, "RNN(cell)", "Got 1 inputs")
  local inputs = { cr.ones { 2, 3 } }
  for _ = 1, state_count do inputs[#inputs + 1] = cr.zeros { 2, 2 } end
  assert(#cell(inputs) == 1 + state_count)
  local sequential = cr.Sequential { layers.InputLayer { batch_input_shape = { 5, 3 } } }
  check.fails(function() sequential:add(layers[name](2)) end, "RNN(cell)")
  local json = ([[{"class_name": "Sequential", "config": {"name": "s", "layers": [
    {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 3]}},
    {"class_name": "%s", "config": {"units": 2}}]}}]]):format(name)
  check.fails(function() cr.models.model_from_json(json) end, "RNN(cell)")
end
local stacked_cells = layers.StackedRNNCells { cells = { layers.LSTMCell(2), layers.GRUCell(2) } }
check.fails(function() stacked_cells(cr.ones { 2, 3 }) end, "called on 4 inputs")
check.fails(function() layers.Dot { axes = {} } end, "expected 1 or 2 integers")
check.same(layers.LSTM({ units = 2, bias_initializer = cr.null })(cr.ones { 2, 3, 4 }).shape,
  { 2, 2 })

-- errors for labels and ids out of range name the value, the range, the layer and the batch
local function make_classifier(options)
  local m = cr.Sequential { layers.Embedding(5, 3, { input_shape = { 2 }, name = "words" }),
    layers.Flatten(),
                            layers.Dense(4, { activation = "softmax", name = "answer" }) }
  m:compile { optimizer = "sgd", loss = cr.losses.SparseCategoricalCrossentropy(options),
    metrics = { "accuracy" },
              run_eagerly = EAGER }
  return m
end
for _, eager in ipairs { false, true } do
  EAGER = eager
  for _, bad_id in ipairs { 5, -1, 1 << 30 } do
    local m = make_classifier()
    local old_weights = m:get_weights()
    local ids, labels = cr.zeros({ 12, 2 }, "int32"):totable(), cr.zeros({ 12 }, "int32"):totable()
    ids[6][2] = bad_id
    local x, y = cr.tensor(ids, "int32"), cr.tensor(labels, "int32")
    check.fails(function()
      m:fit(x, y, { batch_size = 4, shuffle = false, verbose = 0 })
    end, "words", "id " .. bad_id,
                "[1, 1]", "input_dim 5", "batch 2")
    check.fails(function() m:predict(x, { batch_size = 4 }) end, "words", "id " .. bad_id,
      "batch 2")
    check.fails(function()
      m:evaluate(x, y, { batch_size = 4, verbose = 0 })
    end, "words", "id " .. bad_id, "batch 2")
    if bad_id ~= 1 << 30 then
      m = make_classifier()
      old_weights = m:get_weights()
      labels[1] = bad_id == 5 and 4 or bad_id
      local zeros = cr.zeros({ 12, 2 }, "int32")
      check.fails(function()
        m:fit(zeros, cr.tensor(labels, "int32"), { batch_size = 4, shuffle = false, verbose = 0 })
      end, "answer", "label " .. labels[1], "4 classes", "batch 1")
      check.fails(function()
        m:fit(zeros, cr.tensor(labels), { batch_size = 4, shuffle = false, verbose = 0 })
      end, "label " .. labels[1])
      for i, w in ipairs(m:get_weights()) do check.near(w, old_weights[i]:totable(), 0) end
    end
  end
  local m = make_classifier { ignore_class = -1 }
  local y = cr.tensor({ 0, -1, 2, -1 }, "int32")
  m:fit(cr.zeros({ 4, 2 }, "int32"), y, { verbose = 0 })
  for _, w in ipairs(m:get_weights()) do
    assert(cr.ops.all(cr.ops.isfinite(w)):item() == true, "ignored labels leave no trace")
  end
  check.fails(function()
    m:fit(cr.zeros({ 4, 2 }, "int32"), cr.tensor({ 0, -1, 2, -2 }, "int32"), { verbose = 0 })
  end, "label -2")
  check.fails(function()
    make_classifier():fit(cr.zeros({ 1, 2 }, "int32"), cr.tensor { 0 / 0 }, { verbose = 0 })
  end, "label nan")
end

-- operations on arrays without elements
check.same(layers.LayerNormalization()(cr.ones { 3, 0 }).shape, { 3, 0 })
check.same(layers.BatchNormalization()(cr.ones { 3, 1, 0 }).shape, { 3, 1, 0 })
check.same(layers.PReLU()(cr.ones { 3, 0 }).shape, { 3, 0 })
check.same(layers.Conv2D(1, 1)(cr.ones { 1, 1, 2, 0 }):totable(), { { { { 0 }, { 0 } } } })
check.same(cr.ops.take(cr.ones { 3, 2 }, cr.zeros({ 0 }, "int32"), 0).shape, { 0, 2 })

-- class numbers out of range
check.fails(function()
  cr.utils.to_categorical(cr.tensor { 0, 3 }, 3)
end, "class 3 at [1]", "3 classes")
check.fails(function() cr.utils.to_categorical(cr.tensor { 0, -1 }) end, "class -1")
check.fails(function() cr.utils.to_categorical(cr.tensor { 0, 0 / 0 }) end, "nan")
check.same(cr.utils.to_categorical(cr.tensor { 0, 2 }):totable(), { { 1, 0, 0 }, { 0, 0, 1 } })

-- a gzipped idx file is opened like an unpacked one, and inspect describes it
local gzipped_path = arg[0]:match "^(.*)/[^/]*$"
  .. "/../../../examples/data/mnist-t10k-labels-idx1-ubyte.gz"
check.same(cr.data.open(gzipped_path):slice(1, 3):totable(),
  cr.data.read_idx(gzipped_path):slice(1, 3):totable())
check.same(cr.data.open(gzipped_path).shape, { 10000 })
