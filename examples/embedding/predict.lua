-- Calls the C interface from LuaJIT, whose ffi library parses the declarations in crescent.h:
--   luajit predict.lua LIBRARY HEADER MODEL        LIBRARY: .../lib/libcrescent_c.so.1
local ffi = require "ffi"
local library_path, header_path, model_path = arg[1], arg[2], arg[3]

local header_text = assert(io.open(header_path)):read "*a"
local declarations = header_text:gsub("\n#[^\n]*", "\n"):gsub('extern "C" {', "")
  :gsub("CRESCENT_C_API ", ""):gsub("CRESCENT_MAY_FAIL ", "")
  :gsub("%[CRESCENT_MAX_RANK%]", "[8]"):gsub("\n}\n%s*$", "\n")
ffi.cdef(declarations)
local crescent = ffi.load(library_path)

--- Raises a Lua error for the crescent_error that a C function returned; NULL means success.
local function check(err)
  if err == nil then return end
  local message = ffi.string(crescent.crescent_error_message(err))
  crescent.crescent_error_free(err)
  error(message, 2)
end

local model = ffi.new "crescent_model*[1]"
check(crescent.crescent_model_load(model_path, nil, model))
ffi.gc(model, function(m) crescent.crescent_model_free(m[0]) end)

local samples = ffi.new("float[6]", { 1, 0, 0, 0, 1, 2 })
local shape = ffi.new("int64_t[2]", { 2, 3 })
local x, y = ffi.new "crescent_tensor*[1]", ffi.new "crescent_tensor*[1]"
check(crescent.crescent_tensor_wrap(crescent.CRESCENT_FLOAT32, shape, 2, samples,
  ffi.sizeof(samples), nil, nil, x))
local count, values = ffi.new("size_t[1]", 1), ffi.new "const void*[1]"
check(crescent.crescent_model_predict(model[0], ffi.cast("const crescent_tensor* const*", x), 1,
  nil, y, count))
check(crescent.crescent_tensor_data(y[0], values))
local numbers = ffi.cast("const float*", values[0])
print(string.format("%.2f %.2f", numbers[0], numbers[1]))
crescent.crescent_tensor_free(x[0])
crescent.crescent_tensor_free(y[0])

print(select(2, pcall(function()
  check(crescent.crescent_model_load("no_such_file.keras", nil, model))
end)))
