-- FeatureSpace preprocesses each column of a table with a layer of its own; the result is one
-- concatenated tensor or a table with a tensor per column.
local cr, shell = ...
local layers = cr.layers

local FeatureSpace, Space = {}, { __name = "FeatureSpace" }
Space.__index = Space
local Feature, Cross = { __name = "Feature" }, { __name = "Cross" }

local function sorted_names(by_name)
  local names = {}
  for name in pairs(by_name) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- ---- kinds of columns

local option = {
  name = { name = "name", type = "a text", doc = "Name of the layer." },
  output_mode = { name = "output_mode", type = "a text", default = "one_hot",
    doc = "\"one_hot\": a vector of zeros and a one; \"int\": the index of the bin." },
  num_bins = { name = "num_bins", type = "an integer", required = true,
    doc = "Number of bins." },
  max_tokens = { name = "max_tokens", type = "an integer",
    doc = "Maximum size of the vocabulary." },
  num_oov_indices = { name = "num_oov_indices", type = "an integer", default = 1,
    doc = "Number of indices for unknown values." },
}

local function new_feature(dtype, preprocessor, output_mode)
  if output_mode ~= "int" and output_mode ~= "one_hot" and output_mode ~= "float" then
    shell.fail(
      "Invalid value for argument `output_mode`. Expected one of {'int', 'one_hot', 'float'}. ",
      "Received: output_mode=", cr.show(output_mode))
  end
  return setmetatable({ dtype = dtype, preprocessor = preprocessor, output_mode = output_mode },
    Feature)
end

local function layer_name(name) return name and name .. "_preprocessor" end

local function lookup_feature_maker(class, dtype)
  return function(max_tokens, num_oov_indices, output_mode, name)
    local layer = layers[class] { max_tokens = max_tokens, num_oov_indices = num_oov_indices,
      name = layer_name(name) }
    return new_feature(dtype, layer, output_mode)
  end
end
local function hashing_feature_maker(dtype)
  return function(num_bins, output_mode, name)
    return new_feature(dtype, layers.Hashing { num_bins = num_bins, name = layer_name(name) },
      output_mode)
  end
end

local lookup_options = { option.max_tokens, option.num_oov_indices, option.output_mode,
  option.name }
local hashed_options = { option.num_bins, option.output_mode, option.name }
local feature_kinds = {
  { "float", "Passes numbers through unchanged.", { option.name },
    function(name)
      return new_feature("float32", layers.Identity { name = layer_name(name) }, "float")
    end },
  { "float_rescaled", "Rescales numbers: x * scale + offset.", {
      { name = "scale", type = "a number", default = 1.0, doc = "Factor." },
      { name = "offset", type = "a number", default = 0.0,
        doc = "Added to the product." }, option.name },
    function(scale, offset, name)
      return new_feature("float32",
        layers.Rescaling { scale = scale, offset = offset, name = layer_name(name) }, "float")
    end },
  { "float_normalized", "Normalizes numbers to mean 0 and variance 1.", { option.name },
    function(name)
      return new_feature("float32", layers.Normalization { axis = -1, name = layer_name(name) },
        "float")
    end },
  { "float_discretized", "Encodes numbers by the range they fall into.", {
      { name = "num_bins", type = "an integer", doc = "Number of ranges that adapt() determines." },
      { name = "bin_boundaries", type = "a list of numbers",
        doc = "Boundaries of the ranges, instead of num_bins." },
      option.output_mode, option.name },
    function(num_bins, boundaries, output_mode, name)
      local layer = layers.Discretization { num_bins = num_bins, bin_boundaries = boundaries,
        name = layer_name(name) }
      return new_feature("float32", layer, output_mode)
    end },
  { "integer_categorical", "Encodes integers by their indices in a vocabulary.", lookup_options,
    lookup_feature_maker("IntegerLookup", "int32") },
  { "string_categorical", "Encodes strings by their indices in a vocabulary.", lookup_options,
    lookup_feature_maker("StringLookup", "string") },
  { "integer_hashed", "Encodes integers by hash.", hashed_options, hashing_feature_maker "int32" },
  { "string_hashed", "Encodes strings by hash.", hashed_options, hashing_feature_maker "string" },
}
local kind_names = {}
for i, kind in ipairs(feature_kinds) do
  kind_names[i] = kind[1]
  FeatureSpace[kind[1]] = shell.define(kind[1] .. " -> a feature", table.unpack(kind, 2))
end

FeatureSpace.feature = shell.define("feature -> a feature",
  "A column that a preprocessing layer of the user encodes.", {
  { name = "dtype", type = "a text", required = true, doc = "Dtype of the column." },
  { name = "preprocessor", type = "a layer", required = true, doc = "The preprocessing layer." },
  { name = "output_mode", type = "a text", required = true,
    doc = "\"float\": the result of the layer; \"one_hot\": its integers as vectors; \"int\": "
      .. "its integers." },
}, new_feature)

local function new_cross(feature_names, crossing_dim, output_mode)
  if output_mode ~= "int" and output_mode ~= "one_hot" then
    shell.fail(
      "Invalid value for argument `output_mode`. Expected one of {'int', 'one_hot'}. ",
      "Received: output_mode=", cr.show(output_mode))
  end
  local name = table.concat(feature_names, "_X_")
  return setmetatable({ feature_names = feature_names, crossing_dim = crossing_dim,
    output_mode = output_mode, name = name }, Cross)
end
FeatureSpace.cross = shell.define("cross -> a crossed feature",
  "Crosses columns: hashes the combination of their values.", {
  { name = "feature_names", type = "a list of texts", required = true,
    doc = "The columns to cross." },
  { name = "crossing_dim", type = "an integer", required = true,
    doc = "Number of bins." }, option.output_mode,
}, new_cross)

--- Returns the Feature of a column: `spec` itself if it is a Feature, else a new Feature of the
--- kind with the name `spec`.
local function feature_from(spec, name, defaults)
  if getmetatable(spec) == Feature then return spec end
  local bin_counts = { float_discretized = defaults.num_discretization_bins,
    integer_hashed = defaults.hashing_dim, string_hashed = defaults.hashing_dim }
  for _, kind in ipairs(kind_names) do
    if kind == spec then return FeatureSpace[kind] { num_bins = bin_counts[kind], name = name } end
  end
  shell.fail("Invalid feature type: ", cr.show(spec), " for '", name, "'; expected one of ",
    table.concat(kind_names, ", "))
end

local function cross_from(spec, features, crossing_dim)
  if getmetatable(spec) ~= Cross then spec = new_cross(spec, crossing_dim, "one_hot") end
  for _, name in ipairs(spec.feature_names) do
    if not features[name] then
      shell.fail(
        "All features referenced in the `crosses` argument should be present in the `features` ",
        "dict. Received unknown features: ", cr.show(spec.feature_names))
    end
  end
  return spec
end

local function new_feature_space(features, output_mode, crosses, crossing_dim, hashing_dim,
  num_discretization_bins, name)
  if type(features) ~= "table" or next(features) == nil then
    shell.fail "The `features` argument cannot be None or empty."
  end
  if output_mode ~= "concat" and output_mode ~= "dict" then
    shell.fail(
      "Invalid value for argument `output_mode`. Expected one of {'dict', 'concat'}. ",
      "Received: output_mode=", cr.show(output_mode))
  end
  local self = setmetatable({
    name = name or "feature_space", output_mode = output_mode, names = sorted_names(features),
    crossing_dim = crossing_dim,
    hashing_dim = hashing_dim, num_discretization_bins = num_discretization_bins,
    features = {}, preprocessors = {}, crosses = {}, crossers = {}, one_hot_encoders = {},
  }, Space)
  for _, column in ipairs(self.names) do
    self.features[column] = feature_from(features[column], column, self)
    self.preprocessors[column] = self.features[column].preprocessor
  end
  for i, cross in ipairs(crosses or {}) do
    self.crosses[i] = cross_from(cross, self.features, crossing_dim)
    self.crossers[self.crosses[i].name] =
      layers.HashedCrossing { num_bins = self.crosses[i].crossing_dim, name = self.crosses[i].name }
  end
  table.sort(self.crosses, function(a, b) return a.name < b.name end)
  return self
end

-- ---- adapting

local function has_member(layer, name)
  return (pcall(function() return layer[name] end))
end

local function is_adaptable(layer)
  local config = layer:get_config()
  local is_fixed = config.mean ~= nil
    or config.has_input_vocabulary ~= false and config.vocabulary ~= nil or
    config.bin_boundaries ~= nil and config.num_bins == nil
  return not is_fixed and has_member(layer, "update_state")
end

local function adaptable_names(self)
  local names = {}
  for _, name in ipairs(self.names) do
    if is_adaptable(self.preprocessors[name]) then names[#names + 1] = name end
  end
  return names
end

local function check_columns(self, data)
  for _, name in ipairs(self.names) do
    if data[name] == nil then
      shell.fail("there is no column '", name, "'; expected ", table.concat(self.names, ", "))
    end
  end
end

--- Converts a column (a tensor, a list or a single value) to a tensor with at least two axes:
--- (rows, 1).
local function as_column(value)
  local column = type(value) == "userdata" and value
    or cr.tensor(type(value) == "table" and value or { value })
  if #column.shape == 0 then return column:reshape { 1, 1 } end
  return #column.shape == 1 and column:reshape { -1, 1 } or column
end

--- Adapts the layers to a table of columns, a dataset of such tables, or a function that returns
--- them one after another and nil at the end.
function Space:adapt(data)
  local is_dataset = type(data) == "userdata" and (cr.describe(data) or {}).what == "dataset"
  if type(data) ~= "table" and type(data) ~= "function" and not is_dataset then
    shell.fail("`adapt()` can only be called on a table of columns, a dataset of such tables ",
      "or a function that gives them. Received instead: ", cr.show(data))
  end
  if is_dataset then data = data:elements() end
  local names = adaptable_names(self)
  for _, name in ipairs(names) do self.preprocessors[name]:reset_state() end
  local function adapt_layers(batch)
    check_columns(self, batch)
    for _, name in ipairs(names) do
      self.preprocessors[name]:update_state(as_column(batch[name]))
    end
  end
  if type(data) == "table" then adapt_layers(data) else
    for batch in data do adapt_layers(batch) end
  end
  for _, name in ipairs(names) do self.preprocessors[name]:finalize_state() end
  self.adapted, self.one_hot_encoders, self.encoded = true, {}, nil
  return self
end

local function check_adapted(self)
  if not self.adapted and #adaptable_names(self) > 0 then
    shell.fail "You need to call `.adapt(data)` on the FeatureSpace before you can start using it."
  end
end

-- ---- the features

--- The number of distinct indices that the layer can return; nil if it is unknown.
local function cardinality(layer)
  local config = layer:get_config()
  if has_member(layer, "vocabulary_size") then return layer:vocabulary_size() end
  if config.bin_boundaries and not config.num_bins then return #config.bin_boundaries + 1 end
  return config.num_tokens or config.num_bins
end

local function encode_feature(self, name, spec, layer, feature)
  if spec.output_mode == "one_hot" then
    if not self.one_hot_encoders[name] then
      if not feature.dtype:find "^int" then
        shell.fail("Feature '", name,
          "' has `output_mode='one_hot'`. Thus its preprocessor should return an integer dtype. ",
          "Instead it returns a ", feature.dtype, " dtype.")
      end
      local token_count = cardinality(layer)
      if not token_count then
        shell.fail("Feature '", name,
          "' has `output_mode='one_hot'`. However it isn't a standard feature and the ",
          "dimensionality of its output space is not known, thus it cannot be one-hot encoded. ",
          "Try using `output_mode='int'`.")
      end
      self.one_hot_encoders[name] = layers.CategoryEncoding { num_tokens = token_count,
        output_mode = "multi_hot" }
    end
    feature = self.one_hot_encoders[name](feature)
  end
  if self.output_mode == "concat" and (feature.dtype:find "^int" or feature.dtype == "string") then
    shell.fail("Cannot concatenate features because feature '", name,
      "' has not been encoded (it has dtype ", feature.dtype,
      "). Consider using `output_mode='dict'`.")
  end
  return feature
end

--- Applies the preprocessing layers to the columns, then the crossing layers; returns a table
--- {feature or cross name = tensor}.
local function preprocessed(self, columns)
  local features = {}
  for _, name in ipairs(self.names) do features[name] = self.preprocessors[name](columns[name]) end
  for _, cross in ipairs(self.crosses) do
    local inputs = {}
    for i, name in ipairs(cross.feature_names) do inputs[i] = features[name] end
    features[cross.name] = self.crossers[cross.name](inputs)
  end
  return features
end

--- Encodes the features (sorted by name, then the crosses) and concatenates them, or returns them
--- by name with output_mode "dict".
local function encoded_features(self, features)
  local feature_list, by_name = {}, {}
  local function add(name, spec, layer)
    local feature = encode_feature(self, name, spec, layer, features[name])
    feature_list[#feature_list + 1], by_name[name] = feature, feature
  end
  for _, name in ipairs(self.names) do add(name, self.features[name], self.preprocessors[name]) end
  for _, cross in ipairs(self.crosses) do add(cross.name, cross, self.crossers[cross.name]) end
  if self.output_mode == "dict" then return by_name end
  if #feature_list == 1 then return feature_list[1] end
  self.concat = self.concat or layers.Concatenate { axis = -1 }
  return self.concat(feature_list)
end

--- The symbolic inputs of a model, in the order of the column names; they can also be read by
--- column name.
function Space:get_inputs()
  if not self.inputs then
    local by_name = {}
    self.inputs = setmetatable({}, { __index = by_name })
    for i, name in ipairs(self.names) do
      by_name[name] = cr.Input { shape = { 1 }, dtype = self.features[name].dtype, name = name }
      self.inputs[i] = by_name[name]
    end
  end
  return self.inputs
end

--- The symbols of the preprocessed columns by name, before they are encoded.
function Space:get_preprocessed_features()
  check_adapted(self)
  self.preprocessed = self.preprocessed or preprocessed(self, self:get_inputs())
  return self.preprocessed
end

--- The encoded features: one concatenated symbol, or with output_mode "dict" one symbol per
--- feature.
function Space:get_encoded_features()
  self.encoded = self.encoded or encoded_features(self, self:get_preprocessed_features())
  return self.encoded
end

function Space:__tostring()
  return string.format("<FeatureSpace: %d features, %d crosses, output_mode=%s, %s>", #self.names,
    #self.crosses, self.output_mode, self.adapted and "adapted" or "not adapted")
end

--- Computes the features of `data`, a table whose members are columns or single values.
function Space:__call(data)
  check_adapted(self)
  if type(data) ~= "table" then
    shell.fail("A FeatureSpace can only be called with a table of columns. Received: data=",
      cr.show(data))
  end
  check_columns(self, data)
  local columns, is_single_row = {}, true
  for _, name in ipairs(self.names) do
    local value = data[name]
    if type(value) == "table" or type(value) == "userdata" and #value.shape > 0 then
      is_single_row = false
    end
    columns[name] = as_column(value)
  end
  local result = encoded_features(self, preprocessed(self, columns))
  if not is_single_row then return result end
  if self.output_mode == "concat" then return cr.ops.squeeze(result, 0) end
  for name, feature in pairs(result) do result[name] = cr.ops.squeeze(feature, 0) end
  return result
end

--- The model whose inputs are the columns and whose outputs are the encoded features.
function Space:model()
  local outputs = self:get_encoded_features()
  if self.output_mode == "dict" then
    local output_list = {}
    for i, name in ipairs(sorted_names(outputs)) do output_list[i] = outputs[name] end
    outputs = output_list
  end
  return cr.Model { inputs = self:get_inputs(), outputs = outputs, name = self.name }
end

--- The configuration; from_config makes an equal FeatureSpace from it.
function Space:get_config()
  local config = { features = {}, crosses = {}, adapted = self.adapted or false }
  for i, name in ipairs(self.names) do
    local feature = self.features[name]
    config.features[i] = { name = name, dtype = feature.dtype, preprocessor = feature.preprocessor,
      output_mode = feature.output_mode }
  end
  for i, cross in ipairs(self.crosses) do
    config.crosses[i] = { feature_names = cross.feature_names, crossing_dim = cross.crossing_dim,
      output_mode = cross.output_mode }
  end
  for _, option in ipairs { "name", "output_mode", "crossing_dim", "hashing_dim",
    "num_discretization_bins" } do config[option] = self[option] end
  return config
end

--- Saves the FeatureSpace. An archive (.keras) stores a FeatureSpace as Keras does; files of other
--- formats store its model(). cr.models.load_model reads both.
function Space:save(path)
  self:get_encoded_features()
  if not shell.save_feature_space(path, self:get_config()) then self:model():save(path) end
end

--- A FeatureSpace from what get_config returned.
--- @param config a table with names
--- @return a FeatureSpace
function FeatureSpace.from_config(config)
  local features, crosses = {}, {}
  for _, feature in ipairs(config.features) do
    features[feature.name] = new_feature(feature.dtype, feature.preprocessor, feature.output_mode)
  end
  for i, cross in ipairs(config.crosses) do
    crosses[i] = new_cross(cross.feature_names, cross.crossing_dim, cross.output_mode)
  end
  local space = new_feature_space(features, config.output_mode, crosses, config.crossing_dim,
    config.hashing_dim, config.num_discretization_bins, config.name)
  space.adapted = config.adapted
  return space
end

local options = {
  { name = "features", type = "a table", required = true,
    doc =
    'Kind of each column by name: "float_normalized", "string_categorical", ..., or '
      .. 'FeatureSpace.float_normalized() and so on.' },
  { name = "output_mode", type = "a text", default = "concat",
    doc = "\"concat\": one tensor of all features; \"dict\": a table of tensors." },
  { name = "crosses", type = "a list",
    doc = "Lists of columns to cross, each of which adds a feature." },
  { name = "crossing_dim", type = "an integer", default = 32,
    doc = "Number of bins of each cross." },
  { name = "hashing_dim", type = "an integer", default = 32,
    doc = "Number of bins of hashed columns." },
  { name = "num_discretization_bins", type = "an integer", default = 32,
    doc = "Number of bins of float_discretized." },
  { name = "name", type = "a text", doc = "Name of the model that save() writes." },
}
local construct = shell.define("FeatureSpace -> a FeatureSpace",
  "Preprocesses the columns of a table into features for a model.", options, new_feature_space)
return setmetatable(FeatureSpace, {
  __call = function(_, ...) return construct(...) end,
  __describe = function() return construct end,
})
