-- Training with weights that are divided among processes gives the results of a single process.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks = require "ranks"
local divided = require "divided_cases"

if ranks.started then
  local folder, parts = ranks.task:match "^(.*):(%d+)$"
  divided.distribute(tonumber(parts))
  for _, name in ipairs(divided.names()) do
    ranks.write(folder, cr.config.communicator().rank, name, divided.numbers_of(divided.run(name)))
  end
  return
end

local numbers_alone = {}
for _, name in ipairs(divided.names()) do
  numbers_alone[name] = divided.numbers_of(divided.run(name))
end

-- Pairs of the number of processes and the size of the mesh's axis "model".
for _, case in ipairs { { 2, 2 }, { 3, 3 }, { 4, 2 } } do
  local count, parts = table.unpack(case)
  local folder = ranks.folder()
  local ok, text = ranks.start(count, folder .. ":" .. parts)
  assert(ok, text)
  for rank = 0, count - 1 do
    local results = ranks.read(folder, rank)
    for name, expected in pairs(numbers_alone) do
      local what = string.format("%s, rank %d of %d", name, rank, count)
      assert(#results[name] == #expected, what .. ": " .. #results[name] .. " numbers")
      for i, number in ipairs(expected) do
        assert(math.abs(results[name][i] - number) < 1e-5 * math.max(1, math.abs(number)),
          string.format("%s, number %d: %.9g for %.9g", what, i, results[name][i], number))
      end
    end
  end
  os.execute("rm -r " .. folder)
  print(string.format("%d processes with %d parts: %d cases", count, parts, #divided.names()))
end
