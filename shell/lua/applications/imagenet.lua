-- Preprocessing of pixels and decoding of class numbers for models that were trained on ImageNet.
local cr, shell = ...
local ops = cr.ops

local imagenet = {}

-- A tensor of one number per channel, shaped to broadcast to images of the given data format.
local function channel_tensor(values, data_format)
  local row = cr.tensor(values)
  return data_format == "channels_last" and row or row:reshape { 3, 1, 1 }
end

-- For each mode, the function that converts pixels from 0..255 to the inputs that models trained
-- with this mode expect.
local modes = {
  tf = function(x) return x / 127.5 - 1 end,
  torch = function(x, data_format)
    local mean = channel_tensor({ 0.485, 0.456, 0.406 }, data_format)
    return (x / 255 - mean) / channel_tensor({ 0.229, 0.224, 0.225 }, data_format)
  end,
  caffe = function(x, data_format)
    local channels = data_format == "channels_last" and -1 or -3
    return ops.flip(x, channels) - channel_tensor({ 103.939, 116.779, 123.68 }, data_format)
  end,
}
local mode_docs = {
  tf = "Scales pixels from 0..255 to -1..1.",
  torch =
    "Scales pixels to 0..1, then normalizes each channel by the mean and standard deviation of "
      .. "ImageNet.",
  caffe =
    "Converts RGB to BGR and subtracts the mean of ImageNet from each channel, without scaling.",
  none = "Returns the pixels unchanged, because these models begin with layers that scale them.",
}

local tensor_kinds = { tensor = true, variable = true, symbol = true }

-- Converts a tensor or a table of numbers to a tensor.
local function tensor_of(value, argument)
  if type(value) == "table" then return cr.tensor(value) end
  local description = cr.describe(value)
  if not description or not tensor_kinds[description.what] then
    shell.fail(argument, ": expected a tensor, got ", cr.show(value))
  end
  return value
end

local function preprocess(x, data_format, mode)
  if not modes[mode] then
    shell.fail("Expected mode to be one of `caffe`, `tf` or `torch`. Received: mode=",
      tostring(mode))
  end
  data_format = data_format or cr.config.image_data_format()
  if data_format ~= "channels_first" and data_format ~= "channels_last" then
    shell.fail(
      "Expected data_format to be one of `channels_first` or `channels_last`. ",
      "Received: data_format=", tostring(data_format))
  end
  x = tensor_of(x, "preprocess_input: x")
  if #x.shape ~= 3 and #x.shape ~= 4 then
    shell.fail("preprocess_input: expected an image or a batch of images, got the shape ",
      cr.show(x.shape))
  end
  local channels = x.shape[data_format == "channels_last" and #x.shape or #x.shape - 2]
  if mode ~= "tf" and channels ~= 3 then
    shell.fail("preprocess_input: expected 3 channels, got ", cr.show(channels), " in the shape ",
      cr.show(x.shape))
  end
  if not x.dtype:find "float" then x = ops.cast(x, cr.config.floatx()) end
  return modes[mode](x, data_format)
end

-- ---- names of classes

local index_file = "imagenet_class_index.json"
local index_url = "https://storage.googleapis.com/download.tensorflow.org/data/" .. index_file

--- The folder in which Keras stores downloaded files.
function imagenet.cache_folder()
  return (os.getenv "KERAS_HOME" or (os.getenv "HOME" or ".") .. "/.keras") .. "/models"
end

--- The path of a file in the cache folder. If the file is missing, fails with a message that says
--- where to download it from.
function imagenet.cached(file, url)
  local path = imagenet.cache_folder() .. "/" .. file
  local handle = io.open(path, "rb")
  if not handle then
    shell.fail("There is no file ", path, ". Put there what is at ", url,
      " (nothing is downloaded by itself).")
  end
  handle:close()
  return path
end

-- The table {class number = {WordNet id, name}}; classes count from 0.
local function class_names()
  local path = imagenet.cached(index_file, index_url)
  local file <close> = assert(io.open(path, "rb"))
  local names, count = {}, 0
  for number, id,
    name in file:read "a":gmatch '"(%d+)"%s*:%s*%[%s*"([^"]*)"%s*,%s*"([^"]*)"%s*%]' do
    local class = math.tointeger(tonumber(number))
    if class and class < 1000 and not names[class] then count = count + 1 end
    names[class] = { id, name }
  end
  if count ~= 1000 then
    shell.fail(path, ': expected 1000 classes such as "0": ["n01440764", "tench"], got ',
      tostring(count))
  end
  return names
end

-- The `top` largest numbers of a row as pairs {class, number}, largest first; classes count from 0.
local function largest_entries(row, top)
  local sorted_indices = {}
  for i = 1, #row do sorted_indices[i] = i end
  table.sort(sorted_indices, function(a, b)
    if row[a] ~= row[b] then return row[a] > row[b] end
    return a > b
  end)
  local largest_scores = {}
  for i = 1, math.min(top, #sorted_indices) do
    largest_scores[i] = { sorted_indices[i] - 1, row[sorted_indices[i]] }
  end
  return largest_scores
end

local function decode(predictions, top)
  predictions = tensor_of(predictions, "decode_predictions: preds")
  local shape = predictions.shape
  if #shape ~= 2 or shape[2] ~= 1000 then
    shell.fail(
      "`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape ",
      "(samples, 1000)). Received array with shape: ", cr.show(shape))
  end
  if math.type(top) ~= "integer" or top < 1 then
    shell.fail("decode_predictions: top: expected an integer from 1, got ", tostring(top))
  end
  local names, results = class_names(), {}
  for i, row in ipairs(predictions:totable()) do
    results[i] = {}
    for rank, indexed_score in ipairs(largest_entries(row, top)) do
      local id, name = table.unpack(names[indexed_score[1]])
      results[i][rank] = { id, name, indexed_score[2] }
    end
  end
  return results
end

-- ---- modules

local pixels_option = { name = "x", type = "a tensor or a symbol", required = true,
  doc = "An image or a batch of images, RGB from 0 to 255." }
local data_format = { name = "data_format", type = "a text",
  doc = "\"channels_last\" or \"channels_first\"; nil: cr.config.image_data_format()." }

local function preprocess_of(mode)
  if mode == "none" then
    return shell.define("preprocess_input -> a tensor", mode_docs.none,
      { pixels_option, data_format }, function(x) return x end)
  end
  return shell.define("preprocess_input -> a tensor", mode_docs[mode],
    { pixels_option, data_format }, function(x, format)
    return preprocess(x, format, mode)
  end)
end

local preprocess_any = shell.define("preprocess_input -> a tensor",
  "Converts pixels to the range on which a family of models was trained.", {
  pixels_option, data_format,
  { name = "mode", type = "a text", default = "caffe",
    doc = "caffe: BGR minus the mean of ImageNet; tf: -1 to 1; torch: normalized by mean and "
      .. "standard deviation." },
}, preprocess)

imagenet.decode_predictions = shell.define(
  "decode_predictions -> a list of tables of class and score",
  "The most likely classes of each prediction, best first: {WordNet id, name, score}. The names "
    .. "come from " .. index_file
    .. " in the folder models of KERAS_HOME (else ~/.keras).",
  {
    { name = "preds", type = "a tensor", required = true,
      doc = "Predictions (batch, 1000) of a model trained on ImageNet." },
    { name = "top", type = "an integer", default = 5, doc = "Number of classes per prediction." },
  },
  decode
)

--- The module of a family of models: its constructors, preprocess_input for a mode ("caffe", "tf",
--- "torch", "none"), and decode_predictions.
function imagenet.module(members)
  local module = {}
  for name, model in pairs(members.models or {}) do module[name] = model end
  module.preprocess_input = members.modes and preprocess_any or preprocess_of(members.mode)
  module.decode_predictions = imagenet.decode_predictions
  return module
end

return imagenet
