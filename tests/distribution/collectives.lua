-- The results of all_reduce in several processes, for every dtype and kind of reduction, also for
-- long tensors.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks = require "ranks"

if not ranks.started then
  for count = 2, 4 do
    local ok, text = ranks.start(count, "all")
    assert(ok, text)
    local _, right_count = text:gsub("rank %d is right", "")
    assert(right_count == count, text)
  end
  print "sums, means, maxima and minima of 2 to 4 processes are right"
  return
end

local communicator = cr.config.communicator()
assert(communicator.name == "mpi" and communicator.size >= 2, "the communicator is "
  .. communicator.name)
local n, rank = communicator.size, communicator.rank

local function expect(what, tensor, ...)
  local numbers = tensor:cast("float64"):totable()
  for i, wanted in ipairs { ... } do
    assert(numbers[i] == wanted, string.format("rank %d: %s: expected %g, got %g", rank, what,
      wanted, numbers[i]))
  end
end

local sum = n * (n + 1) / 2
for _, dtype in ipairs { "float32", "float64", "bfloat16", "float16", "int32", "int64", "uint8",
  "int8", "int16" } do
  local x = cr.tensor { rank + 1, 2 * (rank + 1) }:cast(dtype)
  expect(dtype .. " sum", cr.ops.all_reduce(x), sum, 2 * sum)
  expect(dtype .. " max", cr.ops.all_reduce(x, "max"), n, 2 * n)
  expect(dtype .. " min", cr.ops.all_reduce(x, "min"), 1, 2)
end
expect("mean", cr.ops.all_reduce(cr.tensor { rank + 1.0 }, "mean"), (n + 1) / 2)

local long_sum = cr.ops.all_reduce(cr.ops.ones { 3000000 } * (rank + 1))
expect("a long sum", cr.ops.max(long_sum):reshape { 1 }, sum)
expect("a long sum", cr.ops.min(long_sum):reshape { 1 }, sum)
expect("no elements", cr.ops.sum(cr.ops.all_reduce(cr.zeros { 0 })):reshape { 1 }, 0)
print("rank " .. rank .. " is right")
