-- A thousand calls of fit, each with a new model, must not make the memory of the process grow.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../shell/support/?.lua;") .. package.path
local memory = require "memory"
local cr = require "crescent"
local x, y = cr.random.normal { 64, 8 }, cr.random.normal { 64, 1 }

-- Collects garbage at fixed points, so that the result does not depend on the collector's own pace.
local function train(times)
  for i = 1, times do
    local model = cr.Sequential { cr.layers.Dense(16, { activation = "relu", input_shape = { 8 } }),
      cr.layers.Dense(1) }
    model:compile { optimizer = "adam", loss = "mse" }
    model:fit(x, y, { epochs = 1, verbose = 0 })
    if i % 100 == 0 then collectgarbage() end
  end
  return memory.mib "VmRSS"
end

local early_mib = train(200)
local late_mib = train(800)
print(string.format("after 200 fits %.1f MB, after 1000 fits %.1f MB", early_mib, late_mib))
assert(late_mib < early_mib + 2, "memory grew")
print "ok fits"
