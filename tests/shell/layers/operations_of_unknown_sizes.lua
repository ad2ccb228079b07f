-- Operations on tensors whose sizes are unknown while a graph is made: the sizes that a symbol has
-- are those of every tensor, and the graph gives the same results as calls on tensors.
local cr = require "crescent"
package.path = arg[0]:match "^(.*)/[^/]*$" .. "/../support/?.lua;" .. package.path
local check = require "check"
local ops, layers = cr.ops, cr.layers

local sizes = { 1, 2, 3, 5, 8 }
local known_features = 4

local function tensor_of(batch, steps)
  return ops.reshape(ops.arange(batch * steps * known_features, { dtype = "float32" }) * 7 % 11,
    { batch, steps, known_features })
end

--- Compares f on a symbol of shape (None, None, 4) with f on tensors of several sizes; f may refuse
--- some of the sizes. `shape` is the expected shape of the symbolic result.
local function check_function(name, f, shape)
  local x = cr.Input { shape = { -1, known_features } }
  local output_symbol = f(x)
  check.same(output_symbol.shape, shape, name)
  local model = cr.Model { inputs = x, outputs = output_symbol }
  local compared_count = 0
  for _, batch in ipairs(sizes) do
    for _, steps in ipairs(sizes) do
      local values = tensor_of(batch, steps)
      local ok, expected = pcall(f, values)
      if ok then
        compared_count = compared_count + 1
        check.same(#expected.shape, #shape, name .. ": rank")
        for axis, size in ipairs(shape) do
          assert(size == -1 or size == expected.shape[axis], name .. ": axis " .. axis)
        end
        check.near(model(values), expected:totable(), 1e-6, name)
      end
    end
  end
  assert(compared_count >= 10, name .. ": only " .. compared_count .. " sizes compute")
end

-- functions along an axis of unknown size
check_function("sort", function(x) return ops.sort(x, 1) end, { -1, -1, 4 })
check_function("sort of the batch", function(x) return ops.sort(x, 0) end, { -1, -1, 4 })
check_function("argsort", function(x) return ops.argsort(x, 1) end, { -1, -1, 4 })
check_function("median", function(x) return ops.median(x, 1) end, { -1, 4 })
check_function("quantile", function(x) return ops.quantile(x, { 0.25, 0.5 }, 1) end, { 2, -1, 4 })
check_function("nanmedian", function(x) return ops.nanmedian(x, 1) end, { -1, 4 })
check_function("tril", function(x) return ops.tril(x) end, { -1, -1, 4 })
check_function("triu", function(x) return ops.triu(x, 1) end, { -1, -1, 4 })
check_function("diagonal", function(x) return ops.diagonal(x) end, { 4, -1 })
check_function("trace", function(x) return ops.trace(x) end, { 4 })
check_function("halves", function(x) return ops.split(x, 2, 1)[1] end, { -1, -1, 4 })
check_function("uneven parts", function(x) return ops.array_split(x, 3, 1)[2] end, { -1, -1, 4 })
check_function("parts at", function(x) return ops.split(x, { 1, 3 }, 1)[2] end, { -1, -1, 4 })
check_function("kron", function(x) return ops.kron(x, ops.ones { 1, 2, 1 }) end, { -1, -1, 4 })
check_function("diagonal by einsum", function(x)
  return ops.einsum("bii->bi", ops.matmul(x, ops.transpose(x, { 0, 2, 1 })))
end, { -1, -1 })

-- slices whose ends are cut off where the axis is shorter
check_function("all but the first", function(x) return x[{ {}, { 2, -1 } }] end, { -1, -1, 4 })
check_function("differences", function(x)
  return x[{ {}, { 2, -1 } }] - x[{ {}, { 1, -2 } }]
end, { -1, -1, 4 })
check_function("at most three", function(x) return x[{ {}, { 1, 3 } }] end, { -1, -1, 4 })
check_function("of the batch", function(x) return x[{ { 2, -1 } }] end, { -1, -1, 4 })
check_function("every second", function(x) return x[{ {}, { 1, -1, 2 } }] end, { -1, -1, 4 })

-- sizes that are used as numbers in Lua, in Lambda and in a class written in Lua
local FunctionLayer = cr.Layer:subclass("InClass", { "f" })
function FunctionLayer:call(x) return self.f(x) end

local function check_in_layers(name, f, shape)
  check_function(name .. " in Lambda", function(x) return layers.Lambda(f)(x) end, shape)
  check_function(name .. " in a class", function(x) return FunctionLayer { f = f } (x) end, shape)
end

check_in_layers("positions", function(x)
  return x + ops.expand_dims(ops.cast(ops.arange(0, ops.shape(x)[2], 1), "float32"), -1)
end, { -1, -1, 4 })
check_in_layers("a table of positions", function(x)
  local rows = ops.reshape(ops.arange(40, { dtype = "float32" }), { 10, 4 })
  return x + ops.take(rows, ops.arange(x.shape[2]), 0)
end, { -1, -1, 4 })
check_in_layers("tile", function(x)
  return x * ops.tile(ops.ones { 1, 4 }, { ops.shape(x)[2], 1 })
end, { -1, -1, 4 })
check_in_layers("one_hot", function(x)
  return ops.one_hot(ops.cast(x[{ {}, {}, 1 }], "int32"), ops.shape(x)[2])
end, { -1, -1, -1 })
check_in_layers("a causal mask", function(x)
  local batch, steps = x.shape[1], x.shape[2]
  return ops.matmul(ops.tril(ops.ones { batch, steps, steps }), x)
end, { -1, -1, 4 })
check_in_layers("heads", function(x)
  return ops.reshape(x, { ops.shape(x)[1], ops.shape(x)[2], 2, 2 })
end, { -1, -1, 2, 2 })
check_in_layers("padded to a multiple of eight", function(x)
  return ops.pad(x, { { 0, 0 }, { 0, -x.shape[2] % 8 }, { 0, 0 } })
end, { -1, -1, 4 })
check_in_layers("windows of four", function(x)
  local padded = ops.pad(x, { { 0, 0 }, { 0, -x.shape[2] % 4 }, { 0, 0 } })
  return ops.reshape(padded, { x.shape[1], padded.shape[2] // 4, 16 })
end, { -1, -1, 16 })
check_in_layers("at least six", function(x)
  return ops.pad(x, { { 0, 0 }, { 0, math.max(0, 6 - x.shape[2]) }, { 0, 0 } })
end, { -1, -1, 4 })
check_in_layers("constants that are read", function(x)
  return x * ops.arange(1, 3):totable()[2]
end, { -1, -1, 4 })

-- a model with position embeddings is trained and saved, and predicts for more steps when loaded
local PositionEmbedding = cr.Layer:subclass("Positions")
function PositionEmbedding:init()
  self.tokens, self.positions = layers.Embedding(11, 4), layers.Embedding(9, 4)
end
function PositionEmbedding:call(ids)
  return self.tokens(ids) + self.positions(ops.arange(0, ops.shape(ids)[2], 1))
end
local ids = cr.Input { shape = { -1 }, dtype = "int32" }
local model = cr.Model { inputs = ids,
  outputs = layers.GlobalAveragePooling1D()(PositionEmbedding()(ids)) }
model:compile { optimizer = "sgd", loss = "mse" }
local short_ids = cr.tensor({ { 1, 2, 3 }, { 4, 5, 6 } }, "int32")
model:fit(short_ids, cr.ones { 2, 4 }, { epochs = 2, verbose = 0 })
local path = check.temporary ".keras"
model:save(path)
local loaded_model = cr.models.load_model(path,
  { custom_objects = { Positions = PositionEmbedding } })
os.remove(path)
local long_ids = cr.tensor({ { 1, 2, 3, 4, 5, 6, 7, 8, 9 } }, "int32")
check.near(loaded_model:predict(long_ids, { verbose = 0 }),
  model:predict(long_ids, { verbose = 0 }):totable(), 0)
