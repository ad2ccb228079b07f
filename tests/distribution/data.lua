-- Several processes train on arrays, on files and on chains of datasets. Each process reads only
-- its own rows, or provides its own part of every batch. The results equal those of a single
-- process for every size of the last batch.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks = require "ranks"

local kBatch, kMaxRows = 32, 64

-- Writes the data of the test to files, from which fit reads rows. Files in the byte order of this
-- machine are mapped into memory; files in the other byte order are read.
local function write_files(folder)
  cr.utils.set_random_seed(3)
  local x = cr.random.normal { kMaxRows, 5 }
  cr.data.write_npy(folder .. "/x.npy", x)
  cr.data.write_hdf5(folder .. "/x.h5", { x = x })
  local file = assert(io.open(folder .. "/x.idx", "wb"))
  file:write(string.pack(">BBBBI4I4", 0, 0, 0x0D, 2, kMaxRows, 5))
  for _, row in ipairs(x:totable()) do
    for _, number in ipairs(row) do file:write(string.pack(">f", number)) end
  end
  file:close()
end

local function rows_of(all, rows) return all:slice({ 1, 1 }, { rows, all.shape[2] }) end

-- Each source gives the arguments of fit for the first `rows` rows.
local sources = {}
local function add_arrays(name, open)
  for _, shuffle in ipairs { true, false } do
    sources[name .. (shuffle and "_shuffled" or "")] = function(folder, rows, y)
      return { rows_of(open(folder), rows), y, { batch_size = kBatch, shuffle = shuffle } }
    end
  end
end
add_arrays("memory", function(folder) return cr.data.read_npy(folder .. "/x.npy") end)
add_arrays("npy", function(folder) return cr.data.open_npy(folder .. "/x.npy") end)
add_arrays("idx", function(folder) return cr.data.open_idx(folder .. "/x.idx") end)
add_arrays("hdf5", function(folder) return cr.data.open_hdf5(folder .. "/x.h5", "x") end)

function sources.chain(folder, rows, y)
  local x = cr.data.open_npy(folder .. "/x.npy")
  return { cr.data.from_tensor_slices({ rows_of(x, rows), y }):shuffle(20, { seed = 2 }):repeated(2)
    :skip(3):batch(kBatch):take(3):prefetch(2), {} }
end

-- Elements that a generator makes. If each of `size` processes provides its own part of a batch,
-- the process of rank r makes the elements r, r + size, r + 2 size, and so on.
local function generated_dataset(folder, rows, y)
  local x, targets = cr.data.read_npy(folder .. "/x.npy"):totable(), y:totable()
  return cr.data.from_generator(function(rank, size)
    return coroutine.wrap(function()
      for i = rank + 1, rows - rows % size, size do
        coroutine.yield(cr.tensor(x[i]), cr.tensor(targets[i]))
      end
    end)
  end)
end

-- All processes train on the sources in the same order, that of their names.
local names = {}
for name in pairs(sources) do names[#names + 1] = name end
table.sort(names)

local function numbers_after_fit(arguments)
  cr.utils.set_random_seed(11)
  local model = cr.Sequential {
    cr.layers.Dense(6, { activation = "tanh", input_shape = { 5 }, kernel_regularizer = "l2" }),
    cr.layers.Dense(1) }
  model:compile { optimizer = "sgd", loss = "mse", metrics = { "mae" } }
  local options = arguments[#arguments]
  options.epochs, options.verbose = 2, 0
  local history = model:fit(table.unpack(arguments))
  local numbers = {}
  for _, weight in ipairs(model:get_weights()) do
    for _, number in ipairs(weight:reshape({ -1 }):totable()) do numbers[#numbers + 1] = number end
  end
  numbers[#numbers + 1] = history.history.loss[2]
  numbers[#numbers + 1] = history.history.mae[2]
  return numbers
end

-- The results of training on each source, for every size of the last batch.
local function numbers(folder)
  local results = {}
  local x = cr.data.read_npy(folder .. "/x.npy")
  for rest = 0, 31 do
    local rows = kBatch + rest
    local y = cr.ops.sum(rows_of(x, rows), 1, true)
    for _, name in ipairs(names) do
      results[name .. rest] = numbers_after_fit(sources[name](folder, rows, y))
    end
  end
  return results
end

-- The results of training in which each process provides its part of 60 rows: by a generator, and
-- by shards of a dataset.
local function numbers_of_parts(folder)
  local rows = 60
  local y = cr.ops.sum(rows_of(cr.data.read_npy(folder .. "/x.npy"), rows), 1, true)
  local size = cr.distribution.distribution() and cr.config.communicator().size or 1
  local results = {}
  results.parts = numbers_after_fit { generated_dataset(folder, rows, y):batch(24 // size), {} }
  local rank = cr.config.communicator().rank
  local x = cr.data.open_npy(folder .. "/x.npy")
  results.sharded = numbers_after_fit {
    cr.data.from_tensor_slices({ rows_of(x, rows), y }):shard(rank + 1, size):batch(24 // size),
    {} }
  return results
end

if ranks.started then
  local folder, deterministic = ranks.task:match "^(.*):(.*)$"
  if deterministic == "true" then cr.config.enable_op_determinism() end
  local rank = cr.config.communicator().rank
  for name, list in pairs(numbers(folder)) do ranks.write(folder, rank, name, list) end
  cr.distribution.set_distribution(cr.distribution.DataParallel { auto_shard_dataset = false })
  assert(not cr.distribution.distribution().auto_shard_dataset)
  for name, list in pairs(numbers_of_parts(folder)) do ranks.write(folder, rank, name, list) end
  return
end

-- Compares the results of each process with those of a single process, `alone`. Where the order of
-- the rows in a batch differs, sums have other rounding errors.
local function check(alone, folder, count, allowed)
  local largest, cases = 0, 0
  for rank = 0, count - 1 do
    local results = ranks.read(folder, rank)
    for name, expected in pairs(alone) do
      cases = cases + 1
      assert(#results[name] == #expected and #expected > 10, name)
      for i, number in ipairs(expected) do
        local difference = math.abs(results[name][i] - number)
        largest = difference ~= difference and math.huge or math.max(largest, difference)
        local reordered = name == "parts" or name == "sharded"
        assert(difference <= (reordered and 1e-6 or allowed),
          string.format("%s: rank %d of %d is %g from one process", name, rank, count, difference))
      end
    end
  end
  print(string.format("%d processes: %d runs compared, at most %.1e from one", count, cases,
    largest))
end

local folder = ranks.folder()
write_files(folder)
for _, deterministic in ipairs { false, true } do
  if deterministic then cr.config.enable_op_determinism() end
  local numbers_alone = numbers(folder)
  for name, found in pairs(numbers_of_parts(folder)) do numbers_alone[name] = found end
  for count = 2, 4 do
    local ok, text = ranks.start(count, folder .. ":" .. tostring(deterministic))
    assert(ok, text)
    check(numbers_alone, folder, count, deterministic and 0 or 1e-6)
    for rank = 0, count - 1 do os.remove(folder .. "/" .. rank) end
  end
end
os.execute("rm -r " .. folder)
