-- digits.lua EXAMPLES FILE: the example works with only those plugins that EXAMPLES/quickstart
-- builds for it.
local examples, file = arg[1], arg[2]
arg[0], arg[1], arg[2] = examples .. "/digits.lua", file, nil
dofile(arg[0])

local quickstart = assert(io.open(examples .. "/quickstart")):read "a"
local built = {}
for name in quickstart:match('plugins="(.-)"'):gmatch "%S+" do
  built[name] = true
end

local used = 0
for line in io.lines "/proc/self/maps" do
  local name = line:match "/plugins/([%w_]+)%.so$"
  if name then
    assert(built[name], "examples/digits.lua uses the plugin " .. name
      .. ", which examples/quickstart does not build")
    used = used + 1
  end
end
assert(used > 0, "no plugin of the tree was found in /proc/self/maps")
