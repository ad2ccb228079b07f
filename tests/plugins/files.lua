-- Opening a file loads the plugins that it needs from the search path: formats by file endings,
-- layers and operations by the model's classes. Without the plugin the error names the missing
-- class or format.
local cr = require "crescent"
local script_folder = arg[0]:match "^(.*)/[^/]*$"
package.path = script_folder .. "/../shell/support/?.lua;" .. package.path

local folder = os.tmpname()
os.remove(folder)
assert(os.execute(("mkdir -m 700 '%s' && cp '%s'/unchecked.so '%s'"):format(folder,
  os.getenv "TEST_PLUGINS", folder)))
local model = folder .. "/m.keras"

-- The output of the program for this Lua code; `path` is the plugin search path.
local program = arg[-1]
local function output_of(text, path)
  local file = folder .. "/script.lua"
  local script = assert(io.open(file, "w"))
  script:write('local cr = require "crescent"\n', text)
  script:close()
  local pipe = io.popen(("CRESCENT_PLUGIN_PATH='%s' XDG_CACHE_HOME='%s' '%s' '%s' 2>&1"):format(
    path or "", folder, program, file))
  local output = pipe:read "a"
  pipe:close()
  return output
end

local saving_code = ([[
local input = cr.Input { shape = { 3 } }
local model = cr.Model { inputs = input, outputs = cr.ops.failing(input) }
model:save "%s"
model:save_weights "%s/w.halfway"
print "saved"
]]):format(model, folder)
local output = output_of(saving_code, folder)
assert(output == "saved\n", output)
assert(output_of(saving_code):find "no function 'failing'")

local loading_code =
  ([[print(cr.models.load_model("%s"):predict(cr.ones { 1, 3 }, { verbose = 0 }):item(1))]])
  :format(model)
output = output_of(loading_code:gsub(":item%(1%)", ":totable()[1][1]"), folder)
assert(output:find "1%.0\n$", output)
output = output_of(loading_code)
assert(output:find("Unknown operation: failing", 1, true), output)
assert(output:find("It was saved from plugin \"unchecked\", version \"1.0.0\"", 1, true), output)

os.execute(("rm -r '%s'"):format(folder))
print "ok files of plugins"
