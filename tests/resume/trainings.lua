-- Random small trainings, and trainings of models of every kind, are killed after a random batch
-- and resumed by the same script; the results are bit for bit those of an uninterrupted run.
package.path = arg[0]:match "^(.*)/" .. "/../replay/?.lua;" .. package.path
local program = require "program"

local scripts = { "training", "models" }
local count = tonumber(os.getenv "CRESCENT_RESUMES") or 60
local resumed_count = 0

--- Runs the script to its end, with `offset` added to the seed of weights and draws; returns the
--- lines of its outcome, without warnings.
local function run_script(script, seed, folder, offset)
  local status, text = program.run(program.here .. "/" .. script .. ".lua", seed, folder, offset)
  assert(status == 0, ("%s %d: %s"):format(script, seed, text))
  local lines = {}
  for line in text:gmatch "[^\n]+" do
    if line:find "\t" then lines[#lines + 1] = line end
  end
  return lines
end

local function expect_same(lines, expected, what)
  for i = 1, math.max(#lines, #expected) do
    local line, other = lines[i] or "nothing", expected[i] or "nothing"
    assert(line == other,
      ("%s: %s\nexpected %s"):format(what, line:sub(1, 100), other:sub(1, 100)))
  end
end

local function has_backup(folder)
  local pipe = assert(io.popen("ls " .. folder .. "/backup 2>&1"))
  local text = pipe:read "a"
  pipe:close()
  return text:find("run.h5", 1, true) ~= nil
end

for seed = 1, count do
  local script = scripts[seed % 2 + 1]
  program.with_folder(function(folder)
    local expected = run_script(script, seed, folder, 0)
    os.execute("rm -rf " .. folder .. "/*")
    math.randomseed(seed)
    local batch = math.random(2, 12)
    program.run(program.here .. "/" .. script .. ".lua", seed, folder, 0, batch)
    if not has_backup(folder) then return end
    expect_same(run_script(script, seed, folder, 1000), expected,
      ("%s %d, killed after batch %d"):format(script, seed, batch))
    resumed_count = resumed_count + 1
  end)
end
assert(resumed_count > count / 2, resumed_count .. " runs were killed and resumed")
print(resumed_count .. " trainings went on in another process")
