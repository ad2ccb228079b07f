-- A copy of the tree into which bugs are inserted (mutation testing), with its build and its tests.
local shell = require "shell"
local quoted = shell.quoted

local Copy = {}
Copy.__index = Copy

--- Copies files that differ and removes files that no longer exist; the file `list_path` has the
--- names of the files copied last time.
local function synchronize(root, folder, list_path)
  local removed_names, current_names = {}, {}
  for name in (shell.read(list_path) or ""):gmatch "[^\n]+" do removed_names[name] = true end
  local names = "git -C " .. quoted(root) .. " ls-files -co --exclude-standard"
  for _, name in ipairs(shell.lines(names)) do
    local text, target = shell.read(root .. "/" .. name), quoted(folder .. "/" .. name)
    if text then
      table.insert(current_names, name)
      removed_names[name] = nil
    end
    if text and shell.read(folder .. "/" .. name) ~= text then
      assert(shell.runs("mkdir -p $(dirname " .. target .. ") && cp -p "
        .. quoted(root .. "/" .. name) .. " " .. target .. " && touch " .. target))
    end
  end
  for name in pairs(removed_names) do os.remove(folder .. "/" .. name) end
  shell.write(list_path, table.concat(current_names, "\n") .. "\n")
end

--- The library that each file belongs to, and the test programs that link its objects.
local kTargets = {
  { "^core/c/", "crescent_c" },
  { "^core/", "crescent" },
  { "^plugins/cpu/", "cpu.so test_cpu" },
  { "^plugins/layers/(%w+)/", "%1.so" },
  { "^plugins/(%w+)/", "%1.so" },
  { "^formats/keras/", "libcrescent_keras.so" },
}

local function targets_of(file)
  for _, row in ipairs(kTargets) do
    local plugin_name = file:match(row[1])
    if plugin_name then return (row[2]:gsub("%%1", plugin_name)) end
  end
  error("tests/mutations/copy.lua does not know what " .. file .. " is built into")
end

-- Exit statuses of a command stopped by `timeout`, and of one that exceeded its processor time.
local kTimeout, kCpuTimeout = 124, 152

--- Builds the targets to which the file belongs, and those of the previous bug; returns whether
--- they compile.
function Copy:build(file)
  local targets = targets_of(file)
  local is_built = self:ninja(targets == self.previous_targets and targets
    or self.previous_targets .. " " .. targets)
  self.previous_targets = targets
  return is_built
end

--- Builds everything again after the last bug was removed.
function Copy:restore() self:ninja "all" end

function Copy:ninja(targets)
  return shell.runs(self.environment .. "ninja -k0 -C " .. quoted(self.build_folder) .. " -j"
    .. self.jobs .. " " .. targets .. " > " .. quoted(self.build_folder .. "/mutation.log")
    .. " 2>&1")
end

--- Runs tests for at most `limit` seconds of processor time and twice as much wall-clock time.
--- Returns whether they passed, their output, and a remark for the report if they did not end.
function Copy:test(command)
  local log_path = self.build_folder .. "/mutation_tests.log"
  local has_passed, _, status = os.execute("cd " .. quoted(self.build_folder .. "/tests")
    .. " && ulimit -t " .. self.limit .. " && " .. self.environment .. command .. " > "
    .. quoted(log_path) .. " 2>&1")
  local text = shell.read(log_path)
  local is_endless = status == kTimeout or status == kCpuTimeout or text:find("***Timeout", 1, true)
    or text:find("CPU time limit", 1, true) or text:find("Subprocess killed", 1, true)
  return has_passed == true, text, is_endless and " (does not end)" or ""
end

--- Runs entries of ctest together and returns the first that fails, or nil.
function Copy:failing(names)
  local patterns = {}
  for i, name in ipairs(names) do patterns[i] = name:gsub("[.+]", "\\%0") end
  local has_passed, text, ending = self:test("ctest --test-dir " .. quoted(self.build_folder)
    .. " --stop-on-failure --timeout " .. 2 * self.limit .. " -j" .. self.jobs .. " -R "
    .. quoted("^(" .. table.concat(patterns, "|") .. ")$"))
  return not has_passed and (text:match "%d+ %- (%S+) %(" or names[1]) .. ending or nil
end

--- The name of the test file whose test cases fail, or nil. "cpu/pooling" stands for the cases with
--- the Catch2 tag [#pooling].
function Copy:failing_file(name)
  local program, file = name:match "^([^/]+)/(.+)$"
  local has_passed, _, ending = self:test("timeout " .. 2 * self.limit .. " ../bin/test_" .. program
    .. " --abort -# " .. quoted("[#" .. file .. "]"))
  return not has_passed and name .. ending or nil
end

--- Whether one of the first random programs (those that the ctest entry runs) gives a different
--- result.
function Copy:failing_programs()
  local has_passed, _, ending = self:test("timeout " .. 2 * self.limit
    .. " ../bin/check_random_programs --seed 1 --count 300 --first")
  return not has_passed and "random-programs" .. ending or nil
end

--- The entries of ctest with their times, cached in the file `cache_path`. Entries that fail
--- even without a bug are left out.
function Copy:measure(regex, cache_path)
  local cached_seconds, lines = {}, {}
  for name, seconds in (shell.read(cache_path) or ""):gmatch "(%S+) (%S+)\n" do
    cached_seconds[name] = tonumber(seconds)
  end
  local names = self.environment .. "ctest --test-dir " .. quoted(self.build_folder)
    .. " -N | sed -n 's/^ *Test *#[0-9]*: //p' | grep -E " .. quoted(regex)
  for _, name in ipairs(shell.lines(names)) do
    local seconds, begin = cached_seconds[name], os.time()
    if not seconds then seconds = self:failing { name } and -1 or os.time() - begin end
    table.insert(lines, name .. " " .. seconds .. "\n")
    if seconds < 0 then
      print("left out, as it fails without a mutation: " .. name)
    else
      self.seconds[name] = seconds
      table.insert(self.by_time, name)
    end
  end
  shell.write(cache_path, table.concat(lines))
  table.sort(self.by_time, function(a, b)
    if self.seconds[a] ~= self.seconds[b] then return self.seconds[a] < self.seconds[b] end
    return a < b
  end)
end

local copy = {}

--- Makes a copy and builds it with its tests, including tests that need the folder `shared` beside
--- the tree.
function copy.make(root, options)
  local scratch = options.scratch or root .. "/build/mutations"
  local shared_folder = os.getenv "CRESCENT_SHARED" or root .. "/../shared"
  local self = setmetatable({ folder = scratch .. "/tree", jobs = math.tointeger(options.jobs),
    limit = math.tointeger(options.limit), seconds = {}, by_time = {},
    previous_targets = "" }, Copy)
  self.build_folder = self.folder .. "/build/release"
  self.environment = shell.runs("test -d " .. quoted(shared_folder))
    and "CRESCENT_SHARED=" .. quoted(shared_folder) .. " " or ""
  assert(shell.runs("mkdir -p " .. quoted(self.folder)))
  synchronize(root, self.folder, scratch .. "/files")
  if not shell.read(self.build_folder .. "/build.ninja") then
    assert(shell.runs("cd " .. quoted(self.folder) .. " && " .. self.environment
      .. "cmake --preset release"))
  end
  assert(self:ninja "all", "the tree does not build without a mutation")
  self:measure(options.tests, scratch .. "/seconds")
  return self
end

return copy
