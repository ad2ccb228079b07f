-- Lets a script start itself again as several processes. Each process runs the same task, and
-- passes its results to the first process in files.
local ranks = {}

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- Whether this process was started by the test.
ranks.started = arg[1] ~= nil
--- The argument that the test passed to its processes: the task or a folder.
ranks.task = arg[1]

--- Starts the script again as `count` processes. `shell_commands` are commands of the shell that
--- run at the same time as the processes, and whose end is waited for.
--- @return whether all processes ended without an error, and their output
function ranks.start(count, task, settings, shell_commands)
  local command = string.format("%s mpirun -n %d --timeout 300 %s %s %s", settings or "", count,
    quoted(os.getenv "CRESCENT_PROGRAM"), quoted(arg[0]), quoted(task))
  command = "{ " .. command .. (shell_commands and " & " .. shell_commands or "") .. "; } 2>&1"
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  return pipe:close() == true, text
end

--- Writes a list of numbers under a name to this rank's file, for the test to read.
function ranks.write(folder, rank, name, numbers)
  local file = assert(io.open(folder .. "/" .. rank, "a"))
  for i, number in ipairs(numbers) do numbers[i] = string.format("%.17g", number) end
  file:write(name, " ", table.concat(numbers, " "), "\n")
  file:close()
end

--- Reads the lists of numbers, by name, that one rank wrote with ranks.write.
function ranks.read(folder, rank)
  local lists = {}
  for line in io.lines(folder .. "/" .. rank) do
    local name, remaining_text = line:match "^(%S+) (.*)$"
    lists[name] = {}
    for number in remaining_text:gmatch "%S+" do table.insert(lists[name], tonumber(number)) end
  end
  return lists
end

--- Makes a new folder, which the caller must remove.
function ranks.folder()
  local name = os.tmpname()
  os.remove(name)
  assert(os.execute("mkdir " .. name))
  return name
end

return ranks
