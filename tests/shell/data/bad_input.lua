-- Errors in files name the file and the position; errors in vocabularies name the faulty term.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/data"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers

local folder = check.temporary ""
os.execute(("mkdir -p '%s/photos/a' '%s/photos/b' '%s/sounds/a' '%s/sounds/b'"):gsub("%%s", folder))
local function path(name) return folder .. "/" .. name end
local function write(name, text)
  local file <close> = assert(io.open(path(name), "wb"))
  file:write(text)
end
local function read(name)
  local file <close> = assert(io.open(path(name), "rb"))
  return file:read "a"
end
local function read_all_elements(data) for _ in data:elements() do end end

do -- damaged and missing images
  local image = cr.random.uniform({ 8, 8, 3 }, 0, 255)
  cr.utils.save_img(path "photos/a/1.png", image)
  cr.utils.save_img(path "photos/b/2.jpg", image)
  local png, jpg = read "photos/a/1.png", read "photos/b/2.jpg"
  local bad_images = { { "3.png", png:sub(1, #png // 2) }, { "3.png", png:sub(1, 12) },
    { "3.jpg", jpg:sub(1, #jpg // 2) }, { "3.png", "" }, { "3.jpg", "hello" } }
  for _, row in ipairs(bad_images) do
    local name = "photos/b/" .. row[1]
    write(name, row[2])
    check.fails(function() cr.utils.load_img(path(name)) end, path(name))
    local data = cr.utils.image_dataset_from_directory(path "photos",
      { image_size = { 8, 8 }, verbose = false })
    check.fails(function() read_all_elements(data) end, path(name))
    local model = cr.Sequential { layers.Flatten { input_shape = { 8, 8, 3 } }, layers.Dense(2) }
    model:compile { loss = "sparse_categorical_crossentropy" }
    check.fails(function() model:fit(data, { verbose = 0 }) end, path(name))
    os.remove(path(name))
  end
  check.fails(function() cr.utils.load_img(path "photos/none.png") end, path "photos/none.png",
    "No such file")
end

do -- errors in tables
  local readers = { cr.data.read_table, cr.data.read_csv,
    function(file) read_all_elements(cr.data.csv_dataset(file)) end }
  for _, read_file in ipairs(readers) do
    write("ragged.csv", "a,b\n1,2\n3\n")
    check.fails(function() read_file(path "ragged.csv") end, path "ragged.csv", "line 3",
      "expected 2 columns, got 1")
    write("ragged.csv", "a,b\n1,2\n3,4,5\n")
    check.fails(function() read_file(path "ragged.csv") end, "line 3", "expected 2 columns, got 3")
    write("ragged.csv", 'a,b\n1,"2\n3,4\n')
    check.fails(function() read_file(path "ragged.csv") end, "line 2", "does not end")
  end
  write("typed.csv", "a,b\n1,2\n3,x\n")
  local typed_options = { types = { b = "int32" } }
  check.fails(function() cr.data.read_table(path "typed.csv", typed_options) end, path "typed.csv",
    "line 3, column 'b'", "expected int32, got 'x'")
  check.fails(function() read_all_elements(cr.data.csv_dataset(path "typed.csv",
    typed_options)) end,
    "line 3, column 'b'")
  write("typed.csv", "a,b\n1,2\n3,\n")
  check.fails(function() cr.data.read_table(path "typed.csv", typed_options) end,
    "line 3, column 'b'",
    "missing", "give a default")
end

do -- errors in sound files
  cr.data.write_wav(path "sounds/a/1.wav", cr.zeros { 100, 1 }, 16000)
  cr.data.write_wav(path "sounds/b/2.wav", cr.zeros { 100, 1 }, 8000)
  check.fails(function()
    read_all_elements(cr.utils.audio_dataset_from_directory(path "sounds",
      { sampling_rate = 16000, verbose = false }))
  end, path "sounds/b/2.wav", "8000 samples a second", "16000")
  write("sounds/a/3.wav", "RIFFxxxxWAVE")
  check.fails(function() cr.data.read_wav(path "sounds/a/3.wav") end, path "sounds/a/3.wav",
    "no samples")
end

do -- invalid vocabularies
  check.fails(function() layers.StringLookup { vocabulary = { "a", "b", "c" }, max_tokens = 2 } end,
    "larger than the maximum", "is 4", "`max_tokens` is 2")
  check.fails(function() layers.TextVectorization { vocabulary = { "a", "b" }, max_tokens = 3 } end,
    "larger than the maximum")
  check.fails(function() layers.StringLookup { vocabulary = { "a", "b", "a" } } end,
    "repeated", "a")
  check.fails(function()
    layers.StringLookup { vocabulary = { "a", "", "b" }, mask_token = "" }
  end, "mask token at unexpected location", "index 1")
  write("words.txt", "a\nb\nb\n")
  check.fails(function() layers.StringLookup { vocabulary = path "words.txt" } end,
    path "words.txt", "line 3", "'b' is in line 2")
  check.fails(function() layers.StringLookup { vocabulary = path "none.txt" } end, path "none.txt")
  local strict_lookup = layers.StringLookup { vocabulary = { "a" }, num_oov_indices = 0 }
  check.fails(function() strict_lookup(cr.tensor { "a", "z" }) end, "z", "num_oov_indices=1")
  check.fails(
    function() layers.CategoryEncoding { num_tokens = 3 } (cr.tensor({ { 1, 5 } }, "int32")) end,
    "value 5 at [0, 1]", "num_tokens 3")
end

do -- errors about labels and ids name the row of the data, even if shuffling has moved it
  local function compiled_model(loss, ...)
    local model = cr.Sequential { ... }
    model:compile { optimizer = "sgd", loss = loss }
    return model
  end
  local x, y = cr.random.normal { 20, 4 }, cr.zeros({ 20 }, "int32")
  y[13] = 7
  local classification_model = compiled_model("sparse_categorical_crossentropy",
    layers.Dense(3, { activation = "softmax", input_shape = { 4 } }))
  for _, shuffle in ipairs { true, false } do
    local fit_options = { batch_size = 5, shuffle = shuffle, verbose = 0 }
    check.fails(function() classification_model:fit(x, y, fit_options) end, "(row 13 of the data)",
      "label 7",
      "out of range for 3 classes")
  end
  check.fails(function() classification_model:evaluate(x, y, { batch_size = 5, verbose = 0 }) end,
    "batch 3 (row 13 of the data): ", "label 7 at [2]")
  local ids = cr.zeros({ 20, 3 }, "int32")
  ids[{ 13, 2 }] = 9
  local embedding_model = compiled_model("mse", layers.Embedding(5, 2, { input_shape = { 3 } }),
    layers.Flatten(), layers.Dense(1))
  check.fails(function() embedding_model:fit(ids, cr.zeros { 20, 1 }, { batch_size = 5,
    verbose = 0 }) end,
    "(row 13 of the data)", "id 9", "out of range for input_dim 5")
end

do -- invalid options of preprocessing layers
  check.fails(function() layers.TextVectorization { standardize = "lowercase" } end, "standardize",
    "lower_and_strip_punctuation")
  check.fails(function() layers.TextVectorization { split = "words" } end, "whitespace")
  check.fails(function() layers.StringLookup { output_mode = "onehot" } end,
    "did you mean 'one_hot'?")
end

do -- sparse tensors do not exist; the option for them is refused, not ignored
  local makers = {
    function()
      layers.CategoryEncoding { num_tokens = 3, sparse = true } (cr.ones({ 1, 2 }, "int32"))
    end,
    function()
      layers.StringLookup { vocabulary = { "a" }, sparse = true, output_mode = "multi_hot" }
    end,
    function() layers.Hashing { num_bins = 3, sparse = true } end,
    function() layers.Discretization { num_bins = 3, sparse = true } end,
    function() layers.TextVectorization { sparse = true, output_mode = "multi_hot" } end,
    function() layers.TextVectorization { ragged = true } end,
    function() cr.Input { shape = { 3 }, sparse = true } end,
  }
  for _, make in ipairs(makers) do check.fails(make, "dense") end
end

os.execute("rm -r '" .. folder .. "'")
print "ok"

do -- errors in the validation part of the data name the row in the whole data
  local model = cr.Sequential {
    cr.layers.Dense(3, { input_shape = { 2 }, activation = "softmax" }) }
  model:compile { loss = "sparse_categorical_crossentropy" }
  local labels = cr.tensor { 0, 1, 2, 0, 1, 2, 0, 1, 9, 0 }
  check.fails(function()
    model:fit(cr.ones { 10, 2 }, labels, { validation_split = 0.3, verbose = 0 })
  end, "row 9 of the data", "label 9")
end
