-- Runs the program in tests of `crescent replay`.
local program = {}

program.here = arg[0]:match "^(.*)/[^/]*$" or "."

local function quoted(text) return "'" .. tostring(text):gsub("'", "'\\''") .. "'" end

--- Runs the program in a folder with these arguments.
--- @return its exit status, and what it wrote to both outputs
function program.run_in(folder, ...)
  local words = { quoted(os.getenv "CRESCENT_PROGRAM") }
  for _, word in ipairs { ... } do words[#words + 1] = quoted(word) end
  local command = ("cd %s && %s 2>&1"):format(quoted(folder), table.concat(words, " "))
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return status, text
end

function program.run(...) return program.run_in(".", ...) end

--- Records the training of tests/replay/training.lua in the folder; returns what it prints.
function program.record(seed, folder, flipped_step)
  local status, text = program.run(program.here .. "/training.lua", seed, folder, flipped_step)
  assert(status == 0, "training " .. seed .. ": " .. text)
  return text
end

--- The number of steps in a record.
function program.steps_of(folder)
  local count = 0
  for line in io.lines(folder .. "/steps.journal") do
    if line:find('{"step"', 1, true) then count = count + 1 end
  end
  return count
end

--- Calls `test` with a new folder, which is removed afterwards.
function program.with_folder(test)
  local folder = os.tmpname()
  os.remove(folder)
  assert(os.execute("mkdir " .. folder))
  local ok, problem = xpcall(test, debug.traceback, folder)
  os.execute("rm -r " .. folder)
  assert(ok, problem)
end

return program
