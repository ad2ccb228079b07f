-- Datasets of folders with one folder per class, and windows over time series.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/data"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"
local utils = cr.utils

local root = check.temporary ""
local function run_command(command) assert(os.execute(command)) end
local function root_dataset(f, ...)
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
run_command("mkdir -p '" .. root .. "/bright/more' '" .. root .. "/dark'")
for i = 1, 6 do utils.save_img(("%s/dark/%d.png"):format(root, i), cr.full({ 4, 6, 3 }, i),
  { scale = false }) end
for i = 1, 3 do utils.save_img(("%s/bright/%d.jpg"):format(root, i), cr.full({ 4, 6, 3 }, 200 + i),
  { scale = false }) end
utils.save_img(root .. "/bright/more/4.bmp", cr.full({ 4, 6, 3 }, 204), { scale = false })
run_command("echo no image > '" .. root .. "/dark/notes.txt'")
local image_dataset = utils.image_dataset_from_directory

do -- datasets in the order of the files, with labels of each kind
  local data = root_dataset(image_dataset, { shuffle = false, batch_size = 4,
    image_size = { 2, 3 } })
  check.same(data.class_names, { "bright", "dark" })
  assert(#data.file_paths == 10 and data.file_paths[4]:match "bright/more/4.bmp$"
    and data.batches == 3)
  local sizes, labels, first_values = {}, {}, {}
  for x, y in data:elements() do
    assert(x.dtype == "float32" and y.dtype == "int32")
    check.same(x.shape, { #y, 2, 3, 3 })
    sizes[#sizes + 1] = #y
    for i = 1, #y do
      labels[#labels + 1], first_values[#first_values + 1] = y[i], x[i]:totable()[1][1][1]
    end
  end
  check.same(sizes, { 4, 4, 2 })
  check.same(labels, { 0, 0, 0, 0, 1, 1, 1, 1, 1, 1 })
  check.near(first_values, { 201, 202, 203, 204, 1, 2, 3, 4, 5, 6 }, 0.02)
  local function first_labels(options)
    options.shuffle, options.image_size = false, { 2, 2 }
    for _, y in root_dataset(image_dataset, options):elements() do return y and y:totable() end
  end
  check.same(first_labels { label_mode = "binary", batch_size = 5 },
    { { 0 }, { 0 }, { 0 }, { 0 }, { 1 } })
  check.same(first_labels { label_mode = "categorical", batch_size = 5 },
    { { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 0, 1 } })
  check.same(first_labels { class_names = { "dark", "bright" }, batch_size = 3 }, { 0, 0, 0 })
  check.same(first_labels { class_names = { "dark" }, batch_size = 10 }, { 0, 0, 0, 0, 0, 0 })
  check.same(first_labels { labels = { 5, 5, 5, 5, 5, 5, 5, 5, 5, 6 }, batch_size = 2 }, { 5, 5 })
  assert(first_labels { labels = false } == nil and first_labels { label_mode = false } == nil)
  for x in root_dataset(image_dataset,
    { batch_size = false, color_mode = "grayscale", data_format = "channels_first",
    image_size = { 5, 4 } }):elements() do
    check.same(x.shape, { 1, 5, 4 })
  end
  for x in root_dataset(image_dataset,
    { batch_size = 1, shuffle = false, pad_to_aspect_ratio = true,
    image_size = { 6, 6 } }):elements() do
    local rows = x[1]:totable()
    assert(rows[1][1][1] == 0 and rows[6][6][1] == 0 and math.abs(rows[3][1][1] - 201) < 1)
    break
  end
end

-- Shuffled datasets: every pass has all elements; the same seed gives the same order, another pass
-- another order.
do
  local function element_order(data)
    local values = {}
    for x in data:elements() do
      for i = 1, #x do values[#values + 1] = math.floor(x[i]:totable()[1][1][1] + 0.5) end
    end
    return values
  end
  local options = { seed = 3, image_size = { 2, 2 }, batch_size = 4 }
  local data = root_dataset(image_dataset, options)
  local first_order, second_order = element_order(data), element_order(data)
  check.same(element_order(root_dataset(image_dataset, options)), first_order)
  assert(table.concat(first_order, " ") ~= table.concat(second_order, " "))
  table.sort(first_order)
  check.same(first_order, { 1, 2, 3, 4, 5, 6, 201, 202, 203, 204 })
  -- the order is that of numpy.random.RandomState(3).shuffle; the last 2 of 10 files are for
  -- validation
  options.validation_split, options.subset = 0.2, "both"
  local training, validation = root_dataset(image_dataset, options)
  local training_order, validation_order = element_order(training), element_order(validation)
  assert(#training_order == 8 and #validation_order == 2)
  table.sort(validation_order)
  check.same(validation_order, { 5, 204 })
  options.subset = "validation"
  local validation_again = element_order(root_dataset(image_dataset, options))
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
  local function check_images_fail(options, ...)
    local messages = { ... }
    check.fails(function() root_dataset(image_dataset, options) end, table.unpack(messages))
  end
  check_images_fail({ label_mode = "ints" }, "`label_mode` argument must be one of", "ints")
  check_images_fail({ labels = "guessed" }, "`labels` argument should be a list", "guessed")
  check_images_fail({ labels = { 1, 2 } }, "len(labels) is 2 while we found 10 files")
  check_images_fail({ class_names = { "dark" }, labels = false },
    "You can only pass `class_names` if")
  check_images_fail({ class_names = { "dark", "light" } }, "did not match", "bright, dark",
    "dark, light")
  check_images_fail({ class_names = { "dark", "dark" } }, "did not match", "dark, dark")
  check_images_fail({ validation_split = 1.5, subset = "training" },
    "`validation_split` must be between 0 and 1, received: 1.5")
  check_images_fail({ validation_split = 0.5 },
    "If `subset` is set, `validation_split` must be set, and inversely.")
  check_images_fail({ validation_split = 0.5, subset = "test", seed = 1 },
    "must be either \"training\", \"validation\" or \"both\", received: test")
  check_images_fail({ validation_split = 0.5, subset = "training" },
    "you must provide a `seed` argument")
  check_images_fail({ interpolation = "cubic" }, "Invalid interpolation method cubic", "bicubic")
  check_images_fail({ format = "grain" }, "'format'", "grain")
  check_images_fail({ crop_to_aspect_ratio = true, pad_to_aspect_ratio = true }, "Only one of")
  check.fails(function() image_dataset "/nonexistent" end, "'/nonexistent' is no folder")
  run_command("mkdir '" .. root .. "/empty'")
  check_images_fail({ label_mode = "binary" }, "exactly 2 class_names", "bright, dark, empty")
  check.fails(function() image_dataset(root .. "/empty", { labels = false, verbose = false }) end,
    "No images found in directory", ".png")
  -- a file that is not an image ends the pass with an error that names it
  run_command("echo nothing > '" .. root .. "/empty/broken.png'")
  check.fails(function()
    for _ in root_dataset(image_dataset, { shuffle = false, batch_size = 2 }):elements() do end
  end, "broken.png", "element 11")
  os.remove(root .. "/empty/broken.png")
end

do -- datasets of text files
  local text_folder = check.temporary ""
  run_command("mkdir -p '" .. text_folder .. "/neg' '" .. text_folder .. "/pos'")
  for _, name in ipairs { "neg/a", "neg/b", "pos/c" } do
    local file = assert(io.open(text_folder .. "/" .. name .. ".txt", "w"))
    file:write("text of ", name)
    file:close()
  end
  local data = utils.text_dataset_from_directory(text_folder,
    { shuffle = false, batch_size = 2, max_length = 8, verbose = false })
  local elements = {}
  for x, y in data:map(function(x, y) return x, y end):unbatch():elements() do
    elements[#elements + 1] = { type(x) == "string" and x or x:item(), y:item() }
  end
  check.same(elements, { { "text of ", 0 }, { "text of ", 0 }, { "text of ", 1 } })
  run_command("rm -r '" .. text_folder .. "'")
end

do -- a model is trained on images from the folder
  local data = root_dataset(image_dataset,
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
run_command("rm -r '" .. root .. "'")

do -- windows over time series
  local window_dataset = utils.timeseries_dataset_from_array
  local rows = {}
  for i = 0, 9 do rows[i + 1] = { i, 10 * i } end
  local x = cr.tensor(rows)
  local function windows(data)
    local window_list = {}
    for a, b in data:elements() do
      for i = 1, #a do
        local times = {}
        for k, row in ipairs(a[i]:totable()) do times[k] = row[1] end
        window_list[#window_list + 1] = b and { times, b[i] } or times
      end
    end
    return window_list
  end
  check.same(windows(window_dataset(x, nil, 3, { sequence_stride = 3 })),
    { { 0, 1, 2 }, { 3, 4, 5 }, { 6, 7, 8 } })
  check.same(windows(window_dataset(x, nil, 3, { sequence_stride = 2, sampling_rate = 2 })),
    { { 0, 2, 4 }, { 2, 4, 6 }, { 4, 6, 8 } })
  local y = cr.tensor { 100, 101, 102, 103 }
  check.same(windows(window_dataset(x, y, 2, { batch_size = 3 })),
    { { { 0, 1 }, 100 }, { { 1, 2 }, 101 }, { { 2, 3 }, 102 }, { { 3, 4 }, 103 } })
  check.same(windows(window_dataset(x, nil, 2, { start_index = 5, end_index = 8 })),
    { { 5, 6 }, { 6, 7 } })
  local shuffled_windows = windows(window_dataset(x, nil, 2, { shuffle = true, seed = 4 }))
  assert(#shuffled_windows == 9)
  table.sort(shuffled_windows, function(a, b) return a[1] < b[1] end)
  check.same(shuffled_windows, windows(window_dataset(x, nil, 2)))
  for a in window_dataset(x, nil, 2, { batch_size = false }):elements() do check.same(a.shape,
    { 2, 2 }) end
  local path = check.temporary ".npy"
  cr.data.write_npy(path, x)
  check.same(windows(window_dataset(cr.data.open(path), nil, 3, { sequence_stride = 3 })),
    { { 0, 1, 2 }, { 3, 4, 5 }, { 6, 7, 8 } })
  os.remove(path)
  check.fails(function() window_dataset(x, nil, 2, { start_index = -1 }) end,
    "`start_index` must be 0 or greater. Received: start_index=-1")
  check.fails(function() window_dataset(x, nil, 2, { end_index = 10 }) end,
    "lower than the length of the data", "end_index=10")
  check.fails(function() window_dataset(x, nil, 2, { start_index = 5, end_index = 5 }) end,
    "greater than `start_index`")
  check.fails(function() window_dataset(x, nil, 2, { sampling_rate = 0 }) end,
    "`sampling_rate` must be greater than 0")
  check.fails(function() window_dataset(x, nil, 2, { sequence_stride = 10 }) end,
    "`sequence_stride` must be lower")
  check.fails(function() window_dataset(x, nil, 0) end, "sequence_length")
  check.fails(function() window_dataset(x, nil, 11) end, "no window of 11 rows fits")
  check.fails(function() window_dataset(x, y, 2, { start_index = 5 }) end, "no window", "4 targets")
  check.same(windows(window_dataset(x, y, 2, { start_index = 2 })),
    { { { 2, 3 }, 102 }, { { 3, 4 }, 103 } })
  check.fails(function() window_dataset(x, nil) end, "missing argument 'sequence_length'")
end
print "ok directories"
