-- Runs our workloads and those of peers alternately, in rounds, and prints how many times as fast
-- (or as small) ours are.
--   crescent tests/bench/compare.lua [--rounds N] [--markdown] [OPTIONS FOR run]
--     -- [LABEL:] COMMAND... [-- ...]
-- A peer prints lines "name value unit" with the names of our workloads. Commands with the same
-- label are settings of one peer; the best of them counts in each round:
--   -- PyTorch: peer.py -- PyTorch: env OMP_WAIT_POLICY=passive peer.py
-- If a command of a peer fails, the table has what the others measured; the failures are below it,
-- and the status is 1.
local script_folder = arg[0]:match "^(.*)/[^/]*$" or "."

local function quoted(words)
  local parts = {}
  for i, word in ipairs(words) do parts[i] = "'" .. word:gsub("'", "'\\''") .. "'" end
  return table.concat(parts, " ")
end

local function read_arguments()
  local options = { rounds = 3, run = { script_folder .. "/run" }, labels = {}, peers = {} }
  local i = 1
  while arg[i] and arg[i] ~= "--" do
    if arg[i] == "--markdown" then
      options.markdown = true
    elseif arg[i] == "--rounds" then
      i = i + 1
      options.rounds = assert(math.tointeger(tonumber(arg[i])), "expected a number after --rounds")
    else
      table.insert(options.run, arg[i])
    end
    i = i + 1
  end
  local peer
  for k = i, #arg do
    local label = peer and #peer.command == 0 and arg[k]:match "^(.+):$"
    if arg[k] == "--" then
      peer = { label = "peer", command = {} }
      table.insert(options.peers, peer)
    elseif label then
      peer.label = label
    else
      table.insert(peer.command, arg[k])
    end
  end
  assert(#options.peers > 0, "expected -- and the command of a peer")
  for _, each in ipairs(options.peers) do
    assert(#each.command > 0, "expected a command after --")
    if not options.labels[each.label] then
      options.labels[each.label] = true
      table.insert(options.labels, each.label)
    end
  end
  return options
end

local units, order = {}, {}  -- units by name; names in the order in which our workloads print them

--- Describes how a process ended, from the results of io.popen's close(). If a signal ends a
--- command, the shell exits with 128 plus the number of the signal.
local function ending_text(reason, code)
  if reason == "exit" and code > 128 then reason, code = "signal", code - 128 end
  return reason == "signal" and "signal " .. code or "status " .. code
end

--- Runs a command. Returns the values that it prints, by name; the second result is nil, or says
--- how the command failed.
local function measured_values(words, ours)
  local values = {}
  io.stderr:write("# ", table.concat(words, " "), "\n")
  local output = assert(io.popen(quoted(words)))
  for line in output:lines() do
    local name, value, unit = line:match "^([%w_]+)%s+([%d.eE+-]+)%s+(%S+)$"
    if name then
      values[name] = tonumber(value)
      if ours and not units[name] then
        units[name] = unit
        table.insert(order, name)
      end
    end
  end
  local has_succeeded, reason, code = output:close()
  if not has_succeeded then
    return values, ending_text(reason, code) .. " of this command: " .. table.concat(words, " ")
  elseif not next(values) then
    return values, "no line 'name value unit' of this command: " .. table.concat(words, " ")
  end
  return values
end

--- Whether a is better than b: larger for throughput, smaller for times and memory.
local function is_better(name, a, b)
  if units[name] and units[name]:find "/s$" then return a > b end
  return a < b
end
local function times_as_good(name, ours, theirs)
  if is_better(name, 2, 1) then return ours / theirs end
  return theirs / ours
end

local function median(list)
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted)
  local middle = #sorted // 2
  return #sorted % 2 == 1 and sorted[middle + 1] or (sorted[middle] + sorted[middle + 1]) / 2
end

--- The values with this name in all rounds; nil if a round has no such value.
local function all_of(rounds, name)
  local values = {}
  for i, round in ipairs(rounds) do
    if not round[name] then return nil end
    values[i] = round[name]
  end
  return values
end

local function text_of(x)
  return string.format(x >= 1000 and "%.0f" or x >= 100 and "%.1f" or x >= 1 and "%.2f" or "%.4f",
    x)
end

--- The rows of the table: one for each name that our workloads and a peer have measured.
local function rows_of(options, ours, theirs)
  local header = { "name", "unit", "Crescent" }
  for _, label in ipairs(options.labels) do
    table.move({ label, "ratio" }, 1, 2, #header + 1, header)
  end
  local rows = { header }
  for _, name in ipairs(order) do
    local our_values, row, is_measured = all_of(ours, name), { name, units[name] }, false
    row[3] = our_values and text_of(median(our_values)) or ""
    for _, label in ipairs(options.labels) do
      local values, ratios = our_values and all_of(theirs[label], name), {}
      for i, value in ipairs(values or {}) do
        ratios[i] = times_as_good(name, our_values[i], value)
      end
      table.insert(row, values and text_of(median(values)) or "")
      table.insert(row, values and string.format("%.2f", median(ratios)) or "")
      is_measured = is_measured or values
    end
    if is_measured then table.insert(rows, row) end
  end
  return rows
end

local function print_table(rows, markdown)
  local widths = {}
  for _, row in ipairs(rows) do
    for c, cell in ipairs(row) do widths[c] = math.max(widths[c] or 0, #cell) end
  end
  for r, row in ipairs(rows) do
    local cells = {}
    for c, cell in ipairs(row) do
      cells[c] = string.format(c <= 2 and "%-" .. widths[c] .. "s" or "%" .. widths[c] .. "s", cell)
    end
    print(markdown and "| " .. table.concat(cells, " | ") .. " |"
      or (table.concat(cells, "  "):gsub("%s+$", "")))
    if markdown and r == 1 then
      for c in ipairs(row) do cells[c] = c <= 2 and "---" or "---:" end
      print("|" .. table.concat(cells, "|") .. "|")
    end
  end
end

--- Runs the commands of all peers. A label gets the best values of its commands, or no values if
--- one of the commands failed. Returns the values by label, and adds to the list of failures.
local function values_of_peers(options, round, failures)
  local values, has_failed = {}, {}
  for _, label in ipairs(options.labels) do values[label] = {} end
  for _, peer in ipairs(options.peers) do
    local best = values[peer.label]
    local measured, failure = measured_values(peer.command)
    if failure then
      has_failed[peer.label] = true
      table.insert(failures, string.format("%s failed in round %d: %s", peer.label, round, failure))
    end
    for name, value in pairs(measured) do
      if not best[name] or is_better(name, value, best[name]) then best[name] = value end
    end
  end
  for label in pairs(has_failed) do values[label] = {} end
  return values
end

local options = read_arguments()
local ours, theirs, failures = {}, {}, {}
for _, label in ipairs(options.labels) do theirs[label] = {} end
for round = 1, options.rounds do
  local failure
  ours[round], failure = measured_values(options.run, true)
  if failure then error("our workloads failed: " .. failure, 0) end
  for label, values in pairs(values_of_peers(options, round, failures)) do
    theirs[label][round] = values
  end
end
print_table(rows_of(options, ours, theirs), options.markdown)
for _, failure in ipairs(failures) do io.stderr:write(failure, "\n") end
os.exit(#failures == 0)
