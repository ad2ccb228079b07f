-- cr.utils.FeatureSpace: columns of a table as features of a model.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local FeatureSpace = cr.utils.FeatureSpace

local columns = {
  age = { 20, 30, 40, 50 },
  size = { 1, 2, 3, 4 },
  color = { "red", "blue", "red", "green" },
  rooms = cr.tensor({ 1, 2, 2, 3 }, "int32"),
}
local function new_space(options)
  options.features = options.features or {
    age = "float_normalized", size = FeatureSpace.float_rescaled { scale = 10 },
    color = "string_categorical", rooms = "integer_categorical",
  }
  return FeatureSpace(options)
end

-- ---- output as one tensor: columns in the order of their names

local space = new_space {}
check.fails(function() space(columns) end, "call `.adapt(data)`")
space:adapt(columns)
local deviation = math.sqrt(125)
check.same(space.preprocessors.color:get_vocabulary(), { "[UNK]", "red", "green", "blue" })
check.same(space.preprocessors.rooms:get_vocabulary(), { -1, 2, 3, 1 })
check.near(space(columns), {
  { -15 / deviation, 0, 1, 0, 0, 0, 0, 0, 1, 10 },
  { -5 / deviation, 0, 0, 0, 1, 0, 1, 0, 0, 20 },
  { 5 / deviation, 0, 1, 0, 0, 0, 1, 0, 0, 30 },
  { 15 / deviation, 0, 0, 1, 0, 0, 0, 1, 0, 40 },
}, 1e-5, "age, color, rooms, size")
check.near(space { age = 35, size = 0.5, color = "pink", rooms = 3 },
  { 0, 1, 0, 0, 0, 0, 0, 1, 0, 5 }, 1e-5, "a single row")

local space_adapted_in_batches = new_space {}
local batch_number = 0
space_adapted_in_batches:adapt(function()
  batch_number = batch_number + 1
  if batch_number > 2 then return nil end
  local batch = {}
  for name, column in pairs(columns) do
    batch[name] = (type(column) == "table" and cr.tensor(column)
      or column):slice(2 * batch_number - 1, 2 * batch_number)
  end
  return batch
end)
check.near(space_adapted_in_batches(columns), space(columns), 1e-5, "adapted in two batches")

-- ---- output as one tensor per column; crosses, hashes, ranges

local crossed_space = new_space {
  features = {
    color = FeatureSpace.string_categorical { output_mode = "int" },
    rooms = FeatureSpace.integer_categorical { output_mode = "int" },
    age = FeatureSpace.float_discretized { num_bins = 2, output_mode = "int" }, size = "float",
  },
  crosses = { FeatureSpace.cross({ "color", "rooms" }, 8, "int") },
  output_mode = "dict",
}
crossed_space:adapt(columns)
local features = crossed_space(columns)
check.same(features.color:totable(), { { 1 }, { 3 }, { 1 }, { 2 } })
check.same(features.age:totable(), { { 0 }, { 1 }, { 1 }, { 1 } }, "ranges part at 30")
local expected_cross = cr.layers.HashedCrossing(8) { features.color, features.rooms }
check.same(features.color_X_rooms:totable(), expected_cross:totable())
local hashed_space = new_space { features = { color = "string_hashed",
  rooms = FeatureSpace.integer_hashed { num_bins = 5 } }, hashing_dim = 4, crosses = { { "color",
  "rooms" } } }
check.same(hashed_space(columns).shape, { 4, 4 + 5 + 32 })

-- ---- the layers as parts of a model that is trained and saved

local inputs, encoded_features = space:get_inputs(), space:get_encoded_features()
check.same(#inputs, 4)
check.same(inputs.color.dtype, "string")
local model = cr.Model { inputs = inputs, outputs = cr.layers.Dense(1)(encoded_features) }
model:compile { optimizer = "adam", loss = "mse" }
local rows = {}
for name, column in pairs(columns) do
  rows[name] = (type(column) == "table" and cr.tensor(column) or column):reshape { 4, 1 }
end
model:fit(rows, cr.tensor { { 1 }, { 0 }, { 1 }, { 0 } }, { epochs = 3, verbose = 0 })
local expected = model:predict(rows):totable()
for _, ending in ipairs { ".keras", ".h5" } do
  local path = check.temporary(ending)
  model:save(path)
  check.same(cr.models.load_model(path):predict(rows):totable(), expected, ending)
  os.remove(path)
end
local path = check.temporary ".h5"
space:save(path)
check.near(cr.models.load_model(path):predict(rows), space(columns), 1e-6, "the space's model")
os.remove(path)

do -- an archive stores the FeatureSpace itself
  local path = check.temporary ".keras"
  local options = { "output_mode", "crossing_dim", "hashing_dim", "num_discretization_bins" }
  local text_layer = cr.layers.TextVectorization { output_mode = "tf_idf" }
  local text_space = new_space { features = {
    color = FeatureSpace.feature { dtype = "string", preprocessor = text_layer,
      output_mode = "float" },
    size = FeatureSpace.float_discretized { num_bins = 3 }, age = "float",
  }, num_discretization_bins = 5 }
  text_space:adapt(columns)
  for _, saved_space in ipairs { space, crossed_space, hashed_space, text_space } do
    saved_space:save(path)
    local loaded_space = cr.models.load_model(path)
    local saved_features, loaded_features = saved_space(columns), loaded_space(columns)
    if saved_space.output_mode == "concat" then saved_features,
      loaded_features = { saved_features }, { loaded_features } end
    for name, feature in pairs(saved_features) do
      check.same(loaded_features[name]:totable(), feature:totable(), name)
    end
    check.same(loaded_space.names, saved_space.names)
    for _, option in ipairs(options) do check.same(loaded_space[option], saved_space[option],
      option) end
  end
  os.remove(path)
  check.fails(function() new_space {}:save(path) end, "call `.adapt(data)`")
end
check.same(space:get_preprocessed_features().color.dtype, "int64")

-- ---- error messages for mistakes

check.fails(function() FeatureSpace { features = {} } end, "cannot be None or empty")
check.fails(function()
  new_space { features = { age = "float_normal" } }
end, "Invalid feature type", "float_normalized")
check.fails(function() new_space { output_mode = "list" } end, "Expected one of {'dict', 'concat'}")
check.fails(function()
  new_space { crosses = { { "age", "sex" } } }
end, "present in the `features` dict", "sex")
check.fails(function()
  FeatureSpace.string_categorical { output_mode = "count" }
end, "'int', 'one_hot', 'float'")
check.fails(function() space { age = { 1 } } end, "there is no column 'color'")
check.fails(function() space(3) end, "table of columns")
check.fails(function()
  new_space { features = { color = FeatureSpace.string_hashed { num_bins = 3,
    output_mode = "int" } } }(columns)
end, "Cannot concatenate features because feature 'color'", "int64")

do -- adapting to a dataset of tables; errors are reported at the user's line
  local columns = { age = { 31., 52, 40, 27 }, job = { "cook", "nurse", "cook", "clerk" } }
  local function small_space()
    return cr.utils.FeatureSpace {
      features = { age = "float_normalized", job = "string_categorical" } }
  end
  local first_space, second_space = small_space(), small_space()
  first_space:adapt(columns)
  second_space:adapt(cr.data.from_tensor_slices(columns):batch(3))
  local row = { age = { 35. }, job = { "clerk" } }
  check.near(second_space(row), first_space(row))
  local ok, message = pcall(function() small_space():adapt { age = { 3. } } end)
  assert(not ok and message:find("feature_space.lua:%d+: there is no column 'job'"), message)
end
