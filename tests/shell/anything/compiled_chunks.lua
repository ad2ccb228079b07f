-- Compiled Lua chunks are refused unless the caller of load explicitly allows them (the fault [L05]
-- in tests/faults/README.md). A stock interpreter, which has no global `cr` before it is required,
-- keeps its own behaviour.
if not cr then os.exit(true) end
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"

local compiled_code = string.dump(function() return 7 end)
local path = check.temporary ".lua"
local file = assert(io.open(path, "wb"))
assert(file:write(compiled_code))
file:close()

local refusal_text = "binary chunk"
local chunk, reason = load(compiled_code)
assert(not chunk and reason:find(refusal_text, 1, true))
chunk, reason = loadfile(path)
assert(not chunk and reason:find(refusal_text, 1, true))
check.fails(function() dofile(path) end, refusal_text)
local ok, text = check.run(("dofile %q"):format(path))
assert(not ok and text:find(refusal_text, 1, true))

-- with mode "b" compiled chunks are accepted; texts, environments and readers work as in plain Lua
assert(load(compiled_code, "chunk", "b")() == 7 and loadfile(path, "bt")() == 7)
assert(load("return a", "chunk", nil, { a = 3 })() == 3 and load("return 1, nil")() == 1)
local parts = { "return ", "5" }
assert(load(function() return table.remove(parts, 1) end)() == 5)
assert(select("#", load "return nil, nil"()) == 2)
file = assert(io.open(path, "w"))
assert(file:write "return ..., 4")
file:close()
assert(select(2, dofile(path)) == 4 and loadfile(path)(1) == 1)
os.remove(path)
print "ok compiled_chunks"
