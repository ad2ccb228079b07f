-- In files of other programs any nonzero byte may mean true; in tensors true is always the byte 1,
-- on which kernels rely.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

local shape_text, mask_bytes = "(1, 1, 4, 4)", string.char(1, 0, 0, 255):rep(4)

local function npy_bytes()
  local header = "{'descr': '|b1', 'fortran_order': False, 'shape': " .. shape_text .. ", }"
  header = header .. (" "):rep(64 - (10 + #header + 1) % 64) .. "\n"
  return "\x93NUMPY\1\0" .. string.pack("<I2", #header) .. header .. mask_bytes
end

local function crc32(text)
  local crc = 0xFFFFFFFF
  for i = 1, #text do
    crc = crc ~ text:byte(i)
    for _ = 1, 8 do crc = (crc & 1) * 0xEDB88320 ~ (crc >> 1) end
  end
  return crc ~ 0xFFFFFFFF
end

--- An uncompressed npz archive with one array.
local function npz_bytes()
  local name, data = "mask.npy", npy_bytes()
  local sizes = string.pack("<I4I4I4", crc32(data), #data, #data)
  local file_entry = "PK\3\4" .. string.pack("<I2I2I2I2I2", 20, 0, 0, 0, 33) .. sizes
    .. string.pack("<I2I2", #name, 0) .. name .. data
  local directory_entry = "PK\1\2" .. string.pack("<I2I2I2I2I2I2", 20, 20, 0, 0, 0, 33) .. sizes
    .. string.pack("<I2I2I2I2I2I4I4", #name, 0, 0, 0, 0, 0, 0) .. name
  return file_entry .. directory_entry .. "PK\5\6"
    .. string.pack("<I2I2I2I2I4I4I2", 0, 0, 1, 1, #directory_entry, #file_entry, 0)
end

local function safetensors_bytes()
  local header = '{"mask":{"dtype":"BOOL","shape":[1,1,4,4],"data_offsets":[0,16]}}'
  header = header .. (" "):rep(-#header % 8)
  return string.pack("<I8", #header) .. header .. mask_bytes
end

local function write_temporary(ending, content)
  local path = check.temporary(ending)
  local file = assert(io.open(path, "wb"))
  file:write(content)
  file:close()
  return path
end

local expected_mask = (cr.tensor { 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1 })
  :reshape { 1, 1, 4, 4 }
  :cast "bool"
local query = cr.random.normal({ 1, 4, 1, 8 }, 0, 1, "float32", 1)
local value = cr.random.normal({ 1, 4, 1, 8 }, 0, 1, "float32", 2)
local function attention_output(mask)
  return cr.ops.dot_product_attention(query, query, value, nil, mask):totable()
end

local function check_mask(what, mask)
  if mask.clone then mask = mask:clone() end
  check.same(mask.dtype, "bool", what)
  check.same(mask:totable(), expected_mask:totable(), what)
  check.same(cr.ops.sum(mask:cast "int32"):item(), 8, what .. ": the sum")
  assert(cr.ops.all(cr.ops.equal(mask, expected_mask)):item(), what .. ": equality")
  check.same(attention_output(mask), attention_output(expected_mask), what .. ": as a mask")
end

local path = write_temporary(".npy", npy_bytes())
check_mask("npy", cr.data.read_npy(path))
check_mask("npy that stays in its file", cr.data.open(path))
os.remove(path)
path = write_temporary(".npz", npz_bytes())
check_mask("npz", cr.data.read_npz(path).mask)
check_mask("npz that is opened", cr.data.open(path, "mask"))
os.remove(path)
path = write_temporary(".safetensors", safetensors_bytes())
check_mask("safetensors", cr.data.open(path, "mask"))
os.remove(path)

-- bytes reinterpreted as booleans
local booleans = cr.ops.view(cr.tensor({ 0, 1, 2, 255 }):cast "uint8", "bool")
check.same(cr.ops.sum(booleans:cast "int32"):item(), 3)
check.same(cr.ops.view(booleans, "uint8"):totable(), { 0, 1, 1, 1 })
