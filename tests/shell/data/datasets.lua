-- cr.datasets reads files in Keras' cache folder, and explains which file is missing.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/data"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local imdb = require "imdb"
local cr = require "crescent"

local function write_file(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end
local function bytes_of(hex) return (hex:gsub("%s", ""):gsub("..",
  function(b) return string.char(tonumber(b, 16)) end)) end

local keras_home = os.getenv "KERAS_HOME"
-- Starts the script again with the environment variable of the cache folder set to a temporary
-- folder.
if not keras_home then
  local folder = check.temporary ""
  assert(os.execute("mkdir -p '" .. folder .. "/datasets/cifar-10-batches-py' '" .. folder
    .. "/datasets/fashion-mnist'"))
  local ok = os.execute(("KERAS_HOME='%s' '%s' '%s'"):format(folder, arg[-1], arg[0]))
  os.execute("rm -r '" .. folder .. "'")
  assert(ok)
  return
end
local cache_folder = keras_home .. "/datasets/"

do -- errors while the cache folder is empty
  check.fails(function() cr.datasets.mnist.load_data() end, cache_folder .. "mnist.npz",
    "is not there",
    "https://", "KERAS_HOME")
  check.fails(function() cr.datasets.cifar100.load_data() end, cache_folder .. "cifar-100-python",
    "is not there")
  check.fails(function() cr.datasets.imdb.get_word_index() end,
    cache_folder .. "imdb_word_index.json")
  check.fails(function() cr.datasets.mnist.load_data "/nonexistent/m.npz" end,
    "'/nonexistent/m.npz' is not there")
end

do -- datasets stored as arrays in npz files
  local x, y = cr.ops.reshape(cr.ops.arange(0, 24), { 3, 2, 4 }):cast "uint8",
    cr.tensor({ 2, 0, 1 }, "uint8")
  cr.data.write_npz(cache_folder .. "mnist.npz",
    { x_train = x, y_train = y, x_test = x:slice(1, 1), y_test = y:slice(1, 1) })
  local train, test = cr.datasets.mnist.load_data()
  check.same(train[1]:totable(), x:totable())
  check.same(train[2]:totable(), { 2, 0, 1 })
  check.same({ test[1].shape, test[2].shape }, { { 1, 2, 4 }, { 1 } })
  assert(train[1].dtype == "uint8")
  cr.data.write_npz(cache_folder .. "mnist.npz", { x_train = x })
  check.fails(function() cr.datasets.mnist.load_data() end, "no array 'y_train'")
  check.same(cr.data.read_npz(cache_folder .. "mnist.npz").x_train:totable(), x:totable())
  local function idx_file(values, ...) return string.char(0, 0, 8, select("#", ...))
    .. string.pack((">I4"):rep(select("#", ...)), ...) .. values end
  for name, bytes in pairs { ["train-images-idx3-ubyte.gz"] = idx_file("abcdefgh", 2, 2, 2),
    ["train-labels-idx1-ubyte.gz"] = idx_file("\1\2", 2),
    ["t10k-images-idx3-ubyte.gz"] = idx_file("abcd", 1, 2, 2),
      ["t10k-labels-idx1-ubyte.gz"] = idx_file("\3", 1) } do
    write_file(cache_folder .. "fashion-mnist/" .. name, bytes)
  end
  train, test = cr.datasets.fashion_mnist.load_data()
  check.same({ train[1].shape, train[2]:totable(), test[2]:totable() },
    { { 2, 2, 2 }, { 1, 2 }, { 3 } })
end

-- House prices: numpy's RandomState(113) shuffles the rows, for ten rows to the order 9 3 6 1 0 7 4
-- 8 2 5.
do
  local x = cr.ops.reshape(cr.ops.arange(0, 20), { 10, 2 }):cast "float64"
  local y = cr.ops.arange(0, 10):cast "float64"
  cr.data.write_npz(cache_folder .. "boston_housing.npz", { x = x, y = y })
  local train, test = cr.datasets.boston_housing.load_data()
  check.same(train[2]:cast("int32"):totable(), { 9, 3, 6, 1, 0, 7, 4, 8 })
  check.near(test[1], { { 4, 5 }, { 10, 11 } })
  _, test = cr.datasets.boston_housing.load_data { test_split = 0.5, seed = 1 }
  assert(#test[2] == 5)
  check.fails(function() cr.datasets.boston_housing.load_data { test_split = 2 } end, "test_split",
    "2")
  cr.data.write_npz(cache_folder .. "california_housing.npz",
    { x = cr.ones { 700, 2 }, y = cr.ones { 700 } })
  train, test = cr.datasets.california_housing.load_data "small"
  assert(#train[1] == 480 and #test[2] == 120)
  check.fails(function() cr.datasets.california_housing.load_data "tiny" end,
    "`version` must be one of", "tiny")
end

do -- texts as lists of word numbers, as the code of Keras returns them
  write_file(cache_folder .. "imdb.npz", bytes_of(imdb.archive_hex))
  local function check_imdb(expected, options)
    local train, test = cr.datasets.imdb.load_data(options)
    check.same({ train[1], train[2]:totable(), test[1], test[2]:totable() }, expected)
  end
  check_imdb(imdb.default_arrays, {})
  check_imdb(imdb.limited_arrays, { num_words = 9, skip_top = 4, maxlen = 5, seed = 5,
    index_from = 2 })
  check_imdb(imdb.unmarked_arrays, { num_words = 9, start_char = false, oov_char = false })
  check.fails(function() cr.datasets.imdb.load_data { maxlen = 1 } end,
    "After filtering for sequences shorter than maxlen=1, no sequence was kept. Increase maxlen.")
  write_file(cache_folder .. "imdb_word_index.json", '{"the": 1, "caf\\u00e9": 7}')
  check.same(cr.datasets.imdb.get_word_index(), { the = 1, ["café"] = 7 })
  assert(#cr.datasets.reuters.get_label_names() == 46)
  check.fails(function() cr.datasets.reuters.load_data() end, cache_folder .. "reuters.npz")
end

-- a batch as a pickle in the form that Python 2 wrote
local function pickled_batch(images, labels, key)
  local function pickled_text(s) return "T" .. string.pack("<I4", #s) .. s end
  local list = {}
  for i, label in ipairs(labels) do list[i] = "K" .. string.char(label) end
  return "\x80\x02}(" .. pickled_text "data"
    .. "cnumpy.core.multiarray\n_reconstruct\nq\1(cnumpy\nndarray\nq\2K\0\x85U\1btR(K\1M"
    .. string.pack("<I2", #labels)
      .. "M\0\x0c\x86cnumpy\ndtype\nU\2u1K\0K\1\x87R(K\3U\1|NNN"
      .. "J\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89"
    .. pickled_text(images) .. "tb" .. pickled_text(key) .. "](" .. table.concat(list) .. "eu."
end

do -- CIFAR images: a file has a plane for each colour, an array has colours as its last axis
  local function image(red, green, blue) return string.char(red):rep(1024)
    .. string.char(green):rep(1024) .. string.char(blue):rep(1024) end
  for i = 1, 5 do write_file(cache_folder .. "cifar-10-batches-py/data_batch_" .. i,
    pickled_batch(image(i, 0, 9), { i }, "labels")) end
  write_file(cache_folder .. "cifar-10-batches-py/test_batch",
    pickled_batch(image(1, 2, 3) .. image(4, 5, 6), { 7, 8 }, "labels"))
  local train, test = cr.datasets.cifar10.load_data()
  check.same({ train[1].shape, train[2]:totable() },
    { { 5, 32, 32, 3 }, { { 1 }, { 2 }, { 3 }, { 4 }, { 5 } } })
  check.same(test[1]:slice({ 2, 32, 32 }, { 2, 32, 32 }):reshape({ 3 }):totable(), { 4, 5, 6 })
  assert(train[1].dtype == "uint8" and train[2].dtype == "uint8")
  -- CIFAR from the packed archive
  assert(os.execute(("mkdir '%scifar-100-python'"):format(cache_folder)))
  write_file(cache_folder .. "cifar-100-python/train", pickled_batch(image(1, 2, 3), { 50 },
    "fine_labels"))
  write_file(cache_folder .. "cifar-100-python/test", pickled_batch(image(1, 2, 3), { 60 },
    "fine_labels"))
  assert(os.execute(
    ("cd '%s' && tar czf cifar-100-python.tar.gz cifar-100-python"):format(cache_folder)))
  assert(os.execute(("rm -r '%scifar-100-python'"):format(cache_folder)))
  train, test = cr.datasets.cifar100.load_data()
  check.same({ train[2]:totable(), test[2]:totable() }, { { { 50 } }, { { 60 } } })
  check.fails(function() cr.datasets.cifar100.load_data "coarse" end, "coarse_labels")
  check.fails(function() cr.datasets.cifar100.load_data "rough" end, "`label_mode` must be one of",
    "rough")
end

do -- a pickle that contains a program is refused, and the program not run
  local path = cache_folder .. "cifar-10-batches-py/data_batch_1"
  for _, code in ipairs { "cos\nsystem\n(S'true'\ntR.", "\x80\x04\x8c\x02os\x8c\x06system\x93." } do
    write_file(path, code)
    check.fails(function() cr.datasets.cifar10.load_data() end, "data_batch_1", "os.system",
      "which is code")
  end
  local bytes = pickled_batch(("x"):rep(3072), { 1 }, "labels")
  for length = 0, #bytes - 1, 37 do
    write_file(path, bytes:sub(1, length))
    check.fails(function() cr.datasets.cifar10.load_data() end, "data_batch_1")
  end
  for position = 1, #bytes do
    if position < 200 or position > #bytes - 60 then
      write_file(path,
        bytes:sub(1, position - 1) .. string.char(bytes:byte(position) ~ 0x55)
        .. bytes:sub(position + 1))
      pcall(cr.datasets.cifar10.load_data)
    end
  end
  for _, pickle in ipairs { ("]"):rep(1000000) .. ("a"):rep(999999) .. ".",
    "]q\0h\0a." } do -- a pickle with deeply nested lists, and one with a list that contains itself
    write_file(path, pickle)
    check.fails(function() cr.datasets.cifar10.load_data() end, "nested more than")
  end
  write_file(path, "cnumpy.core.multiarray\nscalar\n(K\1U\1xtR.")
  check.fails(function() cr.datasets.cifar10.load_data() end, "a text was expected")
  write_file(path, "]q\0h\0a.")
  check.fails(function() cr.datasets.cifar10.load_data() end, "nested more than")
end
print "ok datasets"
