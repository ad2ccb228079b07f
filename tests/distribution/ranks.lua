-- A script that starts itself again as several processes. Each of them calls what the script gives
-- `run`, and hands what it found to the first process through a file.
local ranks = {}

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- Whether this is one of the processes that the test started.
ranks.started = arg[1] ~= nil
--- What the test told them.
ranks.task = arg[1]

--- Starts the script again as so many processes.
--- @return whether all ended well, what they wrote
function ranks.start(count, task, settings)
  local command = string.format("%s timeout 120 mpirun -n %d %s %s %s 2>&1", settings or "", count,
    quoted(os.getenv "CRESCENT_PROGRAM"), quoted(arg[0]), quoted(task))
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  return pipe:close() == true, text
end

--- Writes numbers that the test will read, below a name.
function ranks.tell(folder, rank, name, numbers)
  local file = assert(io.open(folder .. "/" .. rank, "a"))
  for i, number in ipairs(numbers) do numbers[i] = string.format("%.17g", number) end
  file:write(name, " ", table.concat(numbers, " "), "\n")
  file:close()
end

--- What one process told: lists of numbers by name.
function ranks.told(folder, rank)
  local all = {}
  for line in io.lines(folder .. "/" .. rank) do
    local name, rest = line:match "^(%S+) (.*)$"
    all[name] = {}
    for number in rest:gmatch "%S+" do table.insert(all[name], tonumber(number)) end
  end
  return all
end

--- A new folder, which the caller removes.
function ranks.folder()
  local name = os.tmpname()
  os.remove(name)
  assert(os.execute("mkdir " .. name))
  return name
end

return ranks
