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

--- The two numbers of samples that the options of split_dataset mean for `count` samples.
local function split_counts(count, left_size, right_size)
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
  return left_count, right_count
end

--- Splits the elements of a dataset into two datasets.
local function split_elements(dataset, left_size, right_size, shuffle, seed)
  local count = 0
  for _ in dataset:elements() do count = count + 1 end
  local left_count, right_count = split_counts(count, left_size, right_size)
  if shuffle then
    dataset = dataset:shuffle(count, { seed = seed or cr.random.randint({}, { minval = 0,
      maxval = 2 ^ 31 - 1, dtype = "int32" }):item(), reshuffle_each_iteration = false })
  end
  return dataset:take(left_count), dataset:skip(left_count):take(right_count)
end

--- Appends the tensors in a nested table to `tensors`, each with its path.
local function collect_tensors(value, path, tensors)
  if type(value) == "userdata" then
    tensors[#tensors + 1] = { path = path, array = value }
  elseif type(value) == "table" then
    local keys = {}
    for key in pairs(value) do keys[#keys + 1] = key end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    for _, key in ipairs(keys) do
      collect_tensors(value[key], path .. "[" .. tostring(key) .. "]", tensors)
    end
  else
    shell.fail("split_dataset: expected tensors, got ", cr.show(value))
  end
  return tensors
end

--- The structure with change(array) in the place of each array.
local function mapped(value, change)
  if type(value) ~= "table" then return change(value) end
  local result = {}
  for key, item in pairs(value) do result[key] = mapped(item, change) end
  return result
end

samples.split_dataset = shell.define("split_dataset -> two datasets",
  "Splits arrays, one or a structure of them, or a dataset, into two parts.", {
  { name = "dataset", type = "tensors",
    doc = "An array, tables of arrays with equally many rows, or a dataset.",
    required = true, takes_names = true },
  { name = "left_size", type = "a number",
    doc = "Number or fraction of samples in the first part." },
  { name = "right_size", type = "a number",
    doc = "Number or fraction of samples in the second part." },
  { name = "shuffle", type = "a boolean", default = false,
    doc = "Shuffle the samples before splitting." },
  { name = "seed", type = "an integer", doc = "Seed of the shuffling." },
}, function(dataset, left_size, right_size, shuffle, seed)
  local description = cr.describe(dataset)
  if description and description.what == "dataset" then
    return split_elements(dataset, left_size, right_size, shuffle, seed)
  end
  local tensors = collect_tensors(dataset, "", {})
  local count = tensors[1] and tensors[1].array.shape[1] or 0
  for _, tensor in ipairs(tensors) do
    if tensor.array.shape[1] ~= count then
      shell.fail("split_dataset: array ", tensor.path, " has ", tensor.array.shape[1],
        " rows, array ", tensors[1].path, " ", count)
    end
  end
  local left_count, right_count = split_counts(count, left_size, right_size)
  local permutation = shuffle and cr.random.permutation(count, { seed = seed })
  local function slice_samples(first, last)
    return mapped(dataset, function(array)
      if permutation then return cr.ops.take(array, permutation:slice(first, last), 0) end
      return array:slice(first, last)
    end)
  end
  return slice_samples(1, left_count), slice_samples(left_count + 1, left_count + right_count)
end)

return samples
