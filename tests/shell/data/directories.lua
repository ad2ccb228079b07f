-- Datasets of folders with one folder per class, and windows over time series.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/data"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"
local utils = cr.utils

local root = check.temporary ""
local function run(command) assert(os.execute(command)) end
local function quietly(f, ...)
  local options = { verbose = false }
  for key, value in pairs((select(1, ...)) or {}) do options[key] = value end
  return f(root, options)
end
local function output_of(code)
  local ok, text = check.run(("local root = %q\n"):format(root) .. code)
  assert(ok, text)
  return text
end

-- two classes of images: 6 dark ones, and 4 bright ones of which one is in a subfolder
run("mkdir -p '" .. root .. "/bright/more' '" .. root .. "/dark'")
for i = 1, 6 do utils.save_img(("%s/dark/%d.png"):format(root, i), cr.full({ 4, 6, 3 }, i),
  { scale = false }) end
for i = 1, 3 do utils.save_img(("%s/bright/%d.jpg"):format(root, i), cr.full({ 4, 6, 3 }, 200 + i),
  { scale = false }) end
utils.save_img(root .. "/bright/more/4.bmp", cr.full({ 4, 6, 3 }, 204), { scale = false })
run("echo no image > '" .. root .. "/dark/notes.txt'")
local images = utils.image_dataset_from_directory

do -- in the order of the files, with labels of each kind
  local data = quietly(images, { shuffle = false, batch_size = 4, image_size = { 2, 3 } })
  check.same(data.class_names, { "bright", "dark" })
  assert(#data.file_paths == 10 and data.file_paths[4]:match "bright/more/4.bmp$"
    and data.batches == 3)
  local sizes, labels, firsts = {}, {}, {}
  for x, y in data:elements() do
    assert(x.dtype == "float32" and y.dtype == "int32")
    check.same(x.shape, { #y, 2, 3, 3 })
    sizes[#sizes + 1] = #y
    for i = 1, #y do
      labels[#labels + 1], firsts[#firsts + 1] = y[i], x[i]:totable()[1][1][1]
    end
  end
  check.same(sizes, { 4, 4, 2 })
  check.same(labels, { 0, 0, 0, 0, 1, 1, 1, 1, 1, 1 })
  check.near(firsts, { 201, 202, 203, 204, 1, 2, 3, 4, 5, 6 }, 0.02)
  local function first_labels(options)
    options.shuffle, options.image_size = false, { 2, 2 }
    for _, y in quietly(images, options):elements() do return y and y:totable() end
  end
  check.same(first_labels { label_mode = "binary", batch_size = 5 },
    { { 0 }, { 0 }, { 0 }, { 0 }, { 1 } })
  check.same(first_labels { label_mode = "categorical", batch_size = 5 },
    { { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 0, 1 } })
  check.same(first_labels { class_names = { "dark", "bright" }, batch_size = 3 }, { 0, 0, 0 })
  check.same(first_labels { class_names = { "dark" }, batch_size = 10 }, { 0, 0, 0, 0, 0, 0 })
  check.same(first_labels { labels = { 5, 5, 5, 5, 5, 5, 5, 5, 5, 6 }, batch_size = 2 }, { 5, 5 })
  assert(first_labels { labels = false } == nil and first_labels { label_mode = false } == nil)
  for x in quietly(images,
    { batch_size = false, color_mode = "grayscale", data_format = "channels_first",
    image_size = { 5, 4 } }):elements() do
    check.same(x.shape, { 1, 5, 4 })
  end
  for x in quietly(images,
    { batch_size = 1, shuffle = false, pad_to_aspect_ratio = true,
    image_size = { 6, 6 } }):elements() do
    local rows = x[1]:totable()
    assert(rows[1][1][1] == 0 and rows[6][6][1] == 0 and math.abs(rows[3][1][1] - 201) < 1)
    break
  end
end

-- Shuffled: every pass has all elements; the same seed gives the same order, another pass another
-- order.
do
  local function order(data)
    local values = {}
    for x in data:elements() do
      for i = 1, #x do values[#values + 1] = math.floor(x[i]:totable()[1][1][1] + 0.5) end
    end
    return values
  end
  local options = { seed = 3, image_size = { 2, 2 }, batch_size = 4 }
  local data = quietly(images, options)
  local first, second = order(data), order(data)
  check.same(order(quietly(images, options)), first)
  assert(table.concat(first, " ") ~= table.concat(second, " "))
  table.sort(first)
  check.same(first, { 1, 2, 3, 4, 5, 6, 201, 202, 203, 204 })
  -- numpy.random.RandomState(3).shuffle of 10 files; the last two are for validation
  options.validation_split, options.subset = 0.2, "both"
  local training, validation = quietly(images, options)
  local training_order, validation_order = order(training), order(validation)
  assert(#training_order == 8 and #validation_order == 2)
  table.sort(validation_order)
  check.same(validation_order, { 5, 204 })
  options.subset = "validation"
  local validation_again = order(quietly(images, options))
  table.sort(validation_again)
  check.same(validation_again, validation_order)
end

do -- messages about the files that were found, and errors for wrong options
  check.same(output_of "cr.utils.image_dataset_from_directory(root)",
    "Found 10 files belonging to 2 classes.\n")
  check.same(output_of "cr.utils.image_dataset_from_directory(root, { labels = false })",
    "Found 10 files.\n")
  check.same(output_of [[cr.utils.image_dataset_from_directory(root,
    { seed = 1, validation_split = 0.3, subset = 'training' })]],
    "Found 10 files belonging to 2 classes.\nUsing 7 files for training.\n")
  local function fails(options, ...)
    local words = { ... }
    check.fails(function() quietly(images, options) end, table.unpack(words))
  end
  fails({ label_mode = "ints" }, "`label_mode` argument must be one of", "ints")
  fails({ labels = "guessed" }, "`labels` argument should be a list", "guessed")
  fails({ labels = { 1, 2 } }, "len(labels) is 2 while we found 10 files")
  fails({ class_names = { "dark" }, labels = false }, "You can only pass `class_names` if")
  fails({ class_names = { "dark", "light" } }, "did not match", "bright, dark", "dark, light")
  fails({ class_names = { "dark", "dark" } }, "did not match", "dark, dark")
  fails({ validation_split = 1.5, subset = "training" },
    "`validation_split` must be between 0 and 1, received: 1.5")
  fails({ validation_split = 0.5 },
    "If `subset` is set, `validation_split` must be set, and inversely.")
  fails({ validation_split = 0.5, subset = "test", seed = 1 },
    "must be either \"training\", \"validation\" or \"both\", received: test")
  fails({ validation_split = 0.5, subset = "training" }, "you must provide a `seed` argument")
  fails({ interpolation = "cubic" }, "Invalid interpolation method cubic", "bicubic")
  fails({ format = "grain" }, "'format'", "grain")
  fails({ crop_to_aspect_ratio = true, pad_to_aspect_ratio = true }, "Only one of")
  check.fails(function() images "/nonexistent" end, "'/nonexistent' is no folder")
  run("mkdir '" .. root .. "/empty'")
  fails({ label_mode = "binary" }, "exactly 2 class_names", "bright, dark, empty")
  check.fails(function() images(root .. "/empty", { labels = false, verbose = false }) end,
    "No images found in directory", ".png")
  -- a file that is not an image ends the pass with an error that names it
  run("echo nothing > '" .. root .. "/empty/broken.png'")
  check.fails(function()
    for _ in quietly(images, { shuffle = false, batch_size = 2 }):elements() do end
  end, "broken.png", "element 11")
  os.remove(root .. "/empty/broken.png")
end

do -- datasets of text files
  local texts = check.temporary ""
  run("mkdir -p '" .. texts .. "/neg' '" .. texts .. "/pos'")
  for _, name in ipairs { "neg/a", "neg/b", "pos/c" } do
    local file = assert(io.open(texts .. "/" .. name .. ".txt", "w"))
    file:write("text of ", name)
    file:close()
  end
  local data = utils.text_dataset_from_directory(texts,
    { shuffle = false, batch_size = 2, max_length = 8, verbose = false })
  local elements = {}
  for x, y in data:map(function(x, y) return x, y end):unbatch():elements() do
    elements[#elements + 1] = { type(x) == "string" and x or x:item(), y:item() }
  end
  check.same(elements, { { "text of ", 0 }, { "text of ", 0 }, { "text of ", 1 } })
  run("rm -r '" .. texts .. "'")
end

do -- a model is trained on images from the folder
  local data = quietly(images,
    { image_size = { 4, 6 }, batch_size = 5, seed = 1,
    class_names = { "bright", "dark" ,"empty" } })
  local model = cr.Sequential { cr.layers.Flatten(), cr.layers.Dense(3) }
  model:compile { optimizer = cr.optimizers.Adam(0.01),
    loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
    metrics = { "accuracy" } }
  local history = model:fit(data:map(function(x, y) return x / 255, y end, { workers = 2 }),
    { epochs = 60, verbose = 0 })
  assert(history.history.accuracy[60] == 1)
end
run("rm -r '" .. root .. "'")

do -- windows over time series
  local series = utils.timeseries_dataset_from_array
  local rows = {}
  for i = 0, 9 do rows[i + 1] = { i, 10 * i } end
  local x = cr.tensor(rows)
  local function windows(data)
    local all = {}
    for a, b in data:elements() do
      for i = 1, #a do
        local times = {}
        for k, row in ipairs(a[i]:totable()) do times[k] = row[1] end
        all[#all + 1] = b and { times, b[i] } or times
      end
    end
    return all
  end
  check.same(windows(series(x, nil, 3, { sequence_stride = 3 })),
    { { 0, 1, 2 }, { 3, 4, 5 }, { 6, 7, 8 } })
  check.same(windows(series(x, nil, 3, { sequence_stride = 2, sampling_rate = 2 })),
    { { 0, 2, 4 }, { 2, 4, 6 }, { 4, 6, 8 } })
  local y = cr.tensor { 100, 101, 102, 103 }
  check.same(windows(series(x, y, 2, { batch_size = 3 })),
    { { { 0, 1 }, 100 }, { { 1, 2 }, 101 }, { { 2, 3 }, 102 }, { { 3, 4 }, 103 } })
  check.same(windows(series(x, nil, 2, { start_index = 5, end_index = 8 })), { { 5, 6 }, { 6, 7 } })
  local shuffled = windows(series(x, nil, 2, { shuffle = true, seed = 4 }))
  assert(#shuffled == 9)
  table.sort(shuffled, function(a, b) return a[1] < b[1] end)
  check.same(shuffled, windows(series(x, nil, 2)))
  for a in series(x, nil, 2, { batch_size = false }):elements() do check.same(a.shape, { 2, 2 }) end
  local path = check.temporary ".npy"
  cr.data.write_npy(path, x)
  check.same(windows(series(cr.data.open(path), nil, 3, { sequence_stride = 3 })),
    { { 0, 1, 2 }, { 3, 4, 5 }, { 6, 7, 8 } })
  os.remove(path)
  check.fails(function() series(x, nil, 2, { start_index = -1 }) end,
    "`start_index` must be 0 or greater. Received: start_index=-1")
  check.fails(function() series(x, nil, 2, { end_index = 10 }) end,
    "lower than the length of the data", "end_index=10")
  check.fails(function() series(x, nil, 2, { start_index = 5, end_index = 5 }) end,
    "greater than `start_index`")
  check.fails(function() series(x, nil, 2, { sampling_rate = 0 }) end,
    "`sampling_rate` must be greater than 0")
  check.fails(function() series(x, nil, 2, { sequence_stride = 10 }) end,
    "`sequence_stride` must be lower")
  check.fails(function() series(x, nil, 0) end, "sequence_length")
  check.fails(function() series(x, nil, 11) end, "no window of 11 rows fits")
  check.fails(function() series(x, y, 2, { start_index = 5 }) end, "no window", "4 targets")
  check.same(windows(series(x, y, 2, { start_index = 2 })),
    { { { 2, 3 }, 102 }, { { 3, 4 }, 103 } })
  check.fails(function() series(x, nil) end, "missing argument 'sequence_length'")
end
print "ok directories"
