-- Computes the lines that the prompt would print for an entry.
local cr = require "crescent"

--- Calls the function and collects its output in `lines`.
local function call_and_collect(lines, f)
  local stdout, print_before = io.stdout, print
  local function add(text)
    for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  end
  io.stdout = {
    write = function(self, ...)
      add(table.concat { ... })
      return self
    end,
    flush = function() end,
  }
  function print(...)
    local texts = table.pack(...)
    for i = 1, texts.n do texts[i] = tostring(texts[i]) end
    add(table.concat(texts, "\t"))
  end
  local results = table.pack(pcall(f))
  io.stdout, print = stdout, print_before
  return results
end

-- Whether the prompt would print the results; for a call that returns a single nil it prints
-- nothing.
local function is_shown(results, code)
  return results.n > 2 or results[2] ~= nil or code:match "^[%w_%. =]+$"
end

--- The lines that the prompt prints for the message of an error, without the place in the entry.
local function message_lines(message)
  local lines = {}
  for line in ("crescent: " .. message:gsub("^%S*:%d+: ", "", 1)):gmatch "[^\n]+" do
    lines[#lines + 1] = line
  end
  return lines
end

--- Runs an entry in this environment; returns the lines that it prints and those of its results.
return function(code, environment)
  local lines = {}
  local f, message = load("return " .. code, "=stdin", "t", environment)
  if not f then f, message = load(code, "=stdin", "t", environment) end
  local results = call_and_collect(lines, f or function() error(message, 0) end)
  if not results[1] then return message_lines(cr.explained(tostring(results[2]), code)) end
  for i = 2, is_shown(results, code) and results.n or 0 do
    for line in cr.printable(cr.show(results[i])):gmatch "[^\n]+" do lines[#lines + 1] = line end
  end
  return lines
end
