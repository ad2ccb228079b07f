-- Packing and unpacking of inputs, targets and weights, and splitting of arrays.
local cr, shell = ...
local samples = {}

local function is_list(x) return type(x) == "table" and shell.is_structure(x) end

samples.pack_x_y_sample_weight = shell.define(
  "pack_x_y_sample_weight -> a tensor or a table of tensors",
  "Packs x, y and sample_weight into a list, leaving out those that are nil.", {
  { name = "x", type = "tensors", doc = "The inputs.", required = true },
  { name = "y", type = "tensors", doc = "The targets." },
  { name = "sample_weight", type = "a tensor", doc = "Weight of each sample." },
}, function(x, y, sample_weight)
  if sample_weight ~= nil then return { x, y == nil and cr.null or y, sample_weight } end
  if y ~= nil then return { x, y } end
  return is_list(x) and { x } or x
end)

samples.unpack_x_y_sample_weight = shell.define(
  "unpack_x_y_sample_weight -> tensors x, y, sample_weight",
  "Unpacks what pack_x_y_sample_weight returned.", {
  { name = "data", type = "tensors", doc = "A tensor, or a list of one to three tensors.",
    required = true },
}, function(data)
  if not is_list(data) then return data, nil, nil end
  if #data < 1 or #data > 3 then
    shell.fail(
      "Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, found: ",
      cr.show(data))
  end
  local y = data[2]
  return data[1], y ~= cr.null and y or nil, data[3]
end)

-- The number of rows that `size` means: a number of rows, or a fraction of `count`; nil stays nil.
local function row_count_of(size, count, name)
  if size == nil then return nil end
  if math.type(size) == "integer" and size > 0 and size <= count then return size end
  if math.type(size) == "float" and size > 0 and size < 1 then
    return math.floor(size * count + 0.5)
  end
  shell.fail("split_dataset: ", name, " must be a number of samples from 1 to ", count,
    " or a share between 0 and 1, got ", cr.show(size))
end

samples.split_dataset = shell.define("split_dataset -> two datasets",
  "Splits arrays, one or a list, into two parts.", {
  { name = "dataset", type = "tensors",
    doc = "An array, or a list of arrays with equally many rows.",
    required = true },
  { name = "left_size", type = "a number",
    doc = "Number or fraction of samples in the first part." },
  { name = "right_size", type = "a number",
    doc = "Number or fraction of samples in the second part." },
  { name = "shuffle", type = "a boolean", default = false,
    doc = "Shuffle the samples before splitting." },
  { name = "seed", type = "an integer", doc = "Seed of the shuffling." },
}, function(dataset, left_size, right_size, shuffle, seed)
  local arrays = is_list(dataset) and dataset or { dataset }
  for i, array in ipairs(arrays) do
    if type(array) ~= "userdata" then
      shell.fail("split_dataset: expected tensors, got ", cr.show(array))
    end
    if array.shape[1] ~= arrays[1].shape[1] then
      shell.fail("split_dataset: array ", i, " has ", array.shape[1], " rows, the first ",
        arrays[1].shape[1])
    end
  end
  local count = arrays[1] and arrays[1].shape[1] or 0
  local left_count, right_count = row_count_of(left_size, count, "left_size"),
    row_count_of(right_size, count, "right_size")
  if not left_count and not right_count then
    shell.fail(
      "At least one of the `left_size` or `right_size` must be specified. ",
      "Received: left_size=nil and right_size=nil")
  end
  left_count, right_count = left_count or count - right_count, right_count or count - left_count
  if left_count + right_count > count then
    shell.fail("split_dataset: left_size and right_size are ", left_count, " and ", right_count,
      " samples, there are ", count)
  end
  local order = shuffle and cr.random.permutation(count, { seed = seed })
  local function slice_samples(first, last)
    local slices = {}
    for i, array in ipairs(arrays) do
      slices[i] = order and cr.ops.take(array, order:slice(first, last), 0)
        or array:slice(first, last)
    end
    return is_list(dataset) and slices or slices[1]
  end
  return slice_samples(1, left_count), slice_samples(left_count + 1, left_count + right_count)
end)

return samples
