-- Training by several processes gives the same numbers as by one process, for all batch sizes and
-- networks.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks, training = require "ranks", require "training"
local names = training.names

if ranks.started then
  training.run(ranks, names, ranks.task, cr.config.communicator().rank)
  return
end

-- The allowed difference. Sums over a batch by one process and by several processes differ in their
-- last digits, and Adam amplifies this where a gradient is nearly 0.
local kAllowed = 1e-5

local function farthest(a, b)
  assert(#a == #b and #a > 0, #a .. " numbers and " .. #b)
  local largest = 0
  for i = 1, #a do
    local difference = math.abs(a[i] - b[i])
    largest = difference ~= difference and math.huge or math.max(largest, difference)
  end
  return largest
end

local function check(alone, count)
  local folder = ranks.folder()
  local ok, text = ranks.start(count, folder)
  assert(ok, text)
  for _, why in ipairs { "keeps states of samples from batch to batch",
    "have a fixed batch size, 4" } do
    local _, times = text:gsub(why, "")
    assert(times == 1, "told " .. times .. " times: " .. why)
  end
  local first = ranks.read(folder, 0)
  local largest = 0
  for rank = 0, count - 1 do
    local results = ranks.read(folder, rank)
    for _, name in ipairs(names) do
      local difference = farthest(results[name], first[name])
      assert(difference == 0, string.format("%s: rank %d is %g from rank 0", name, rank,
        difference))
      -- Batch normalization that is not synchronized uses the statistics of each process's part of
      -- the batch, so the results of this case are not those of one process.
      if name ~= "moving_averages_are_one" then
        difference = farthest(results[name], alone[name])
        largest = math.max(largest, difference)
        assert(difference <= kAllowed,
          string.format("%s: %d processes are %g from one", name, count, difference))
      end
    end
  end
  os.execute("rm -r " .. folder)
  print(string.format("%d processes: %d cases compared, at most %.1e from one", count, #names,
    largest))
end

local folder = ranks.folder()
training.run(ranks, names, folder, 0)
local numbers_alone = ranks.read(folder, 0)
os.execute("rm -r " .. folder)
for count = 2, 4 do check(numbers_alone, count) end
