-- Layers without a vocabulary: hashing as in TensorFlow, ranges, encodings.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers

local function output_of(layer, x) return layer(x):totable() end
local function column_of(...)
  local rows = {}
  for i, value in ipairs { ... } do rows[i] = { value } end
  return cr.tensor(rows)
end

-- ---- Hashing: the examples of Keras' documentation and tests

local letters = column_of("A", "B", "C", "D", "E")
check.same(output_of(layers.Hashing { num_bins = 3 }, letters),
  { { 1 }, { 0 }, { 1 }, { 1 }, { 2 } })
check.same(output_of(layers.Hashing { num_bins = 3, mask_value = "" },
  column_of("A", "B", "", "C", "D")),
  { { 1 }, { 1 }, { 0 }, { 2 }, { 2 } })
check.same(output_of(layers.Hashing { num_bins = 3, salt = { 133, 137 } }, letters),
  { { 1 }, { 2 }, { 1 }, { 0 }, { 2 } })
check.same(output_of(layers.Hashing { num_bins = 3, salt = 133 }, letters),
  { { 0 }, { 0 }, { 2 }, { 1 }, { 0 } })
local numbers = cr.tensor({ 0, 1, 2, 3, 4 }, "int64")
check.same(output_of(layers.Hashing(3), numbers), { 1, 0, 1, 0, 2 })
check.same(output_of(layers.Hashing { num_bins = 3, salt = { 133, 137 } }, numbers),
  { 1, 1, 2, 0, 1 })
check.same(output_of(layers.Hashing(3), cr.tensor { 0.5, 1.9, 2.0, 3.0, 4.0 }), { 1, 0, 1, 0, 2 },
  "fractions are cut off")
local names = column_of("omar", "stringer", "marlo", "wire", "skywalker")
check.same(output_of(layers.Hashing(2), names), { { 0 }, { 0 }, { 1 }, { 0 }, { 0 } })
check.same(output_of(layers.Hashing { num_bins = 3, mask_value = "omar" }, names),
  { { 0 }, { 1 }, { 2 }, { 1 }, { 1 } })
check.same(output_of(layers.Hashing { num_bins = 2, salt = { 211, 137 } }, names),
  { { 1 }, { 0 }, { 1 }, { 0 }, { 1 } })
check.same(output_of(layers.Hashing(1), letters), { { 0 }, { 0 }, { 0 }, { 0 }, { 0 } })

-- Hashes of texts of several lengths are those of the FarmHash library, modulo the largest Lua
-- integer.
local function modulo_max_integer(fingerprint)
  return math.ult(fingerprint, math.maxinteger) and fingerprint or fingerprint - math.maxinteger
end
local fingerprints = {
  [""] = 0x9ae16a3b2f90404f, A = 0xeabf3252cc3bf414, omar = 0x2ee20deec3396b4a,
  skywalker = 0x73a16cdc0e8cb39e,
  ["a text of twenty-four by"] = 0x96a6bd2f1e9787c5,
  ["a text of more than thirty-two bytes, it is"] = 0xbd1d67420888e471,
  ["a text of more than sixty-four bytes, so that it takes the way of long ones, block by block, "
    .. "to the end of it"] = 0x3328a086d88ae669,
}
for text, fingerprint in pairs(fingerprints) do
  check.same(output_of(layers.Hashing { num_bins = math.maxinteger }, cr.tensor { text }),
    { modulo_max_integer(fingerprint) }, text)
end

check.same(output_of(layers.Hashing { num_bins = 3, output_mode = "one_hot" }, numbers),
  { { 0, 1, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 0, 0 }, { 0, 0, 1 } })
check.same(output_of(layers.Hashing { num_bins = 3, output_mode = "multi_hot" },
  cr.tensor({ { 0, 1, 2, 3 } }, "int32")), { { 1, 1, 0 } })
check.same(output_of(layers.Hashing { num_bins = 3, output_mode = "count" },
  cr.tensor({ { 0, 1, 2, 3, 4 } }, "int32")), { { 2, 2, 1 } })
check.same(layers.Hashing(3)(numbers).dtype, "int64")
check.same(layers.Hashing { num_bins = 3, dtype = "int32" }(numbers).dtype, "int32")
check.fails(function() layers.Hashing(0) end, "cannot be `None` or non-positive", "num_bins=0")
check.fails(function()
  layers.Hashing { num_bins = 2, salt = "s" }
end, "can only be a tuple of size 2 integers")
check.fails(function() layers.Hashing { num_bins = 2, salt = { 1 } } end, "salt=[1]")
check.fails(function()
  layers.Hashing { num_bins = 2, dtype = "float64" }
end, "`dtype` should be an integer type")
check.fails(function() layers.Hashing { num_bins = 2, output_mode = "onehot" } end, "one_hot")
check.fails(function() layers.Hashing { num_bins = 2, sparse = true } end, "tensors are dense")

-- ---- HashedCrossing hashes pairs of features

local first_feature, second_feature = cr.tensor { "A", "B", "A", "B", "A" },
  cr.tensor({ 101, 101, 101, 102, 102 }, "int32")
check.same(output_of(layers.HashedCrossing(5), { first_feature, second_feature }),
  { 1, 4, 1, 1, 3 })
check.same(output_of(layers.HashedCrossing { num_bins = 5, output_mode = "one_hot" },
  { first_feature:reshape { 5, 1 }, second_feature:reshape { 5, 1 } })[4],
  { 0, 1, 0, 0, 0 })
check.fails(function() layers.HashedCrossing(5) { first_feature } end, "at least two inputs")
check.fails(function() layers.HashedCrossing(5) { first_feature, second_feature:slice(1, 3) } end,
  "equal shape")
check.fails(function()
  layers.HashedCrossing(5) { first_feature, cr.tensor { 1, 2, 3, 4, 5 } }
end, "integer or string dtype", "float32")
check.fails(function()
  layers.HashedCrossing(5) { cr.zeros({ 2, 3 }, "int32"), cr.zeros({ 2, 3 }, "int32") }
end, "should have shape")

-- ---- Discretization: the examples of its documentation, and quantiles estimated from a stream

local x = cr.tensor { { -1.5, 1.0, 3.4, 0.5 }, { 0.0, 3.0, 1.3, 0.0 } }
check.same(output_of(layers.Discretization { bin_boundaries = { 0, 1, 2 } }, x),
  { { 0, 2, 3, 1 }, { 1, 3, 2, 1 } })
local adapted_layer = layers.Discretization { num_bins = 4, epsilon = 0.01 }
check.fails(function() adapted_layer(x) end, "call `adapt(dataset)` before")
adapted_layer:adapt(x)
check.same(output_of(adapted_layer, x), { { 0, 2, 3, 2 }, { 1, 3, 3, 1 } })
check.same(adapted_layer(x).dtype, "int32")
check.same(output_of(layers.Discretization { bin_boundaries = { 0 } }, cr.tensor { 0 / 0 }), { 1 },
  "NaN is beyond all")
check.same(output_of(layers.Discretization { bin_boundaries = { 0, 2 }, output_mode = "count" }, x),
  { { 1, 2, 1 }, { 0, 3, 1 } })

local values = {}
for i = 1, 1000 do values[i] = (i * 7919) % 1000 end
local whole_layer, batched_layer = layers.Discretization { num_bins = 4 },
  layers.Discretization { num_bins = 4 }
whole_layer:adapt(cr.tensor(values))
check.near(whole_layer.bin_boundaries, { 249.5, 499.5, 749.5 }, 1e-2, "quarters")
batched_layer:reset_state()
for i = 1, 1000, 100 do
  batched_layer:update_state(cr.tensor { table.unpack(values, i, i + 99) })
end
batched_layer:finalize_state()
check.near(batched_layer.bin_boundaries, whole_layer.bin_boundaries, 2e-2, "in ten batches")
local dataset_layer = layers.Discretization { num_bins = 4 }
dataset_layer:adapt(cr.data.dataset(cr.tensor(values), { batch_size = 100 }))
check.same(dataset_layer.bin_boundaries, batched_layer.bin_boundaries, "from a dataset")
check.fails(function() layers.Discretization {} end, "either `num_bins` or `bin_boundaries`")
check.fails(function()
  layers.Discretization { num_bins = 2, bin_boundaries = { 1, 2, 3 } }
end, "should not be set")
check.fails(function() layers.Discretization { bin_boundaries = { 2, 1 } } end, "in order")
check.fails(function()
  layers.Discretization { bin_boundaries = { 1 } }:adapt(x)
end, "Cannot adapt a Discretization layer")

-- ---- Normalization adapted to all rows at once, and to batches

local data = cr.random.uniform({ 40, 3 }, { seed = 3 })
local whole_normalization, batched_normalization = layers.Normalization(), layers.Normalization()
whole_normalization:adapt(data)
batched_normalization:adapt(cr.data.dataset(data, { batch_size = 7 }))
check.near(batched_normalization.weights[1].value, whole_normalization.weights[1].value, 1e-6,
  "mean")
check.near(batched_normalization.weights[2].value, whole_normalization.weights[2].value, 1e-6,
  "variance")
check.near(whole_normalization.mean, cr.ops.mean(data, 0, true), 1e-6)
check.near(whole_normalization.variance, cr.ops.var(data, 0, true), 1e-5)
assert(layers.Normalization().mean == nil)

-- ---- the layers in a compiled model and in files

local input = cr.Input { shape = { 1 }, dtype = "int32" }
local model = cr.Model { inputs = input,
  outputs = cr.layers.Dense(2)(layers.Hashing { num_bins = 4, output_mode = "one_hot",
  salt = 7 }(input)) }
local ids = cr.tensor({ { 3 }, { 5 }, { 8 } }, "int32")
local old_predictions = model:predict(ids)
for _, ending in ipairs { ".h5", ".keras" } do
  local path = check.temporary(ending)
  model:save(path)
  check.same(cr.models.load_model(path):predict(ids):totable(), old_predictions:totable(), ending)
  os.remove(path)
end

-- ranks above 2 are encoded along axis 1, scalars as one sample
local cube = cr.tensor({ { { 0, 1 }, { 0, 2 } } }, "int32")
check.same(layers.CategoryEncoding { num_tokens = 3 }(cube):totable(),
  { { { 1, 0, 0 }, { 0, 1, 1 } } })
check.same(layers.CategoryEncoding { num_tokens = 3, output_mode = "count" }(cube):totable(),
  { { { 2, 0, 0 }, { 0, 1, 1 } } })
check.same(layers.CategoryEncoding { num_tokens = 6 }(cr.tensor(4, "int32")):totable(),
  { 0, 0, 0, 0, 1, 0 })
check.same(layers.Discretization { bin_boundaries = { 0.5, 1.5 }, output_mode = "multi_hot" }(
  cube:cast "float32"):totable(), { { { 1, 0, 0 }, { 0, 1, 1 } } })
check.same(layers.Discretization { bin_boundaries = { 0, 1, 2, 5 }, output_mode = "multi_hot" }(
  cr.Input { 3, 4 }).shape, { -1, 4, 5 })
