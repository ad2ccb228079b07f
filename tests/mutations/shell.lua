-- Helpers that run commands and read and write files.
local shell = {}

function shell.quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

function shell.read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text
end

function shell.write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

--- The output of a command that gets `input` as its standard input.
function shell.output(command, input)
  local path = input and os.tmpname()
  if path then shell.write(path, input) end
  local pipe = assert(io.popen(path and "cat " .. path .. " | " .. command or command))
  local text = pipe:read "a"
  pipe:close()
  if path then os.remove(path) end
  return text
end

function shell.lines(command)
  local lines = {}
  for line in shell.output(command):gmatch "[^\n]+" do lines[#lines + 1] = line end
  return lines
end

--- Whether the command exits with status 0.
function shell.runs(command) return (os.execute(command)) == true end

return shell
