-- Single functions of cr.ops on four million numbers, by the bytes that they must read and write.
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/../?.lua;" .. package.path
local measure = require "measure"
local cr = require "crescent"
local ops = cr.ops

local MiB = 2 ^ 20
local function cube() return cr.random.normal { 64, 256, 256 } end
local function plane() return cr.random.normal { 4096, 1024 } end
local function integers(limit, ...)
  return ops.cast(cr.random.uniform({ ... }, 0, limit), "int32")
end
--- Positive definite matrices.
local function positive()
  local x = cr.random.normal { 2048, 16, 16 }
  return ops.matmul(x, x:transpose { 0, 2, 1 }) + ops.eye(16)
end

-- name, bytes, function, what makes its arguments
local rows = {
  { "copy", 32, function(x) return ops.add(x, 0.5) end, plane },
  { "sqrt", 32, ops.sqrt, function() return ops.abs(plane()) end },
  { "exp", 32, ops.exp, plane },
  { "log", 32, ops.log, function() return ops.abs(plane()) end },
  { "tanh", 32, ops.tanh, plane },
  { "sin", 32, ops.sin, plane },
  { "gelu", 32, ops.gelu, plane },
  { "sigmoid", 32, ops.sigmoid, plane },
  { "gelu_exact", 32, function(x) return ops.gelu(x, false) end, plane },
  { "clip", 32, function(x) return ops.clip(x, -1, 1) end, plane },
  { "cast_to_int", 32, function(x) return ops.cast(x, "int32") end, plane },
  { "cast_to_bfloat16", 24, function(x) return ops.cast(x, "bfloat16") end, plane },
  { "add", 48, ops.add, plane, plane },
  { "add_row", 32, ops.add, plane, function() return cr.random.normal { 1024 } end },
  { "add_column", 32, ops.add, plane, function() return cr.random.normal { 4096, 1 } end },
  { "power", 48, ops.power, function() return ops.abs(plane()) end, plane },
  { "greater", 36, ops.greater, plane, plane },
  { "where", 52, ops.where, function() return ops.greater(plane(), 0) end, plane, plane },
  { "sum_all", 16, ops.sum, cube },
  { "sum_first", 16, function(x) return ops.sum(x, 0) end, cube },
  { "sum_middle", 16, function(x) return ops.sum(x, 1) end, cube },
  { "sum_last", 16, function(x) return ops.sum(x, 2) end, cube },
  { "max_first", 16, function(x) return ops.max(x, 0) end, cube },
  { "max_last", 16, function(x) return ops.max(x, 2) end, cube },
  { "prod_last", 16, function(x) return ops.prod(x, 2) end, cube },
  { "any_last", 4, function(x) return ops.any(x, 2) end,
    function() return ops.less(cube(), -5) end },
  { "var_last", 16, function(x) return ops.var(x, 2) end, cube },
  { "argmax_first", 16, function(x) return ops.argmax(x, 0) end, cube },
  { "argmax_last", 16, function(x) return ops.argmax(x, 2) end, cube },
  { "argmin_middle", 16, function(x) return ops.argmin(x, 1) end, cube },
  { "softmax_last", 32, function(x) return ops.softmax(x, -1) end, plane },
  { "softmax_first", 32, function(x) return ops.softmax(x, 0) end, plane },
  { "logsumexp", 16, function(x) return ops.logsumexp(x, 1) end, plane },
  { "cumsum_last", 32, function(x) return ops.cumsum(x, 1) end, plane },
  { "cumsum_first", 32, function(x) return ops.cumsum(x, 0) end, plane },
  { "cumprod_last", 32, function(x) return ops.cumprod(x, 1) end, plane },
  { "transpose", 32, function(x) return ops.transpose(x) end, plane },
  { "transpose_images", 32, function(x) return ops.transpose(x, { 0, 2, 1 }) end, cube },
  { "concatenate", 64, function(x, y) return ops.concatenate({ x, y }, 1) end, plane, plane },
  { "stack", 64, function(x, y) return ops.stack({ x, y }, -1) end, plane, plane },
  { "repeat", 32, function(x) return ops["repeat"](x, 4, 1) end,
    function() return cr.random.normal { 1024, 1024 } end },
  { "tile", 32, function(x) return ops.tile(x, { 2, 2 }) end,
    function() return cr.random.normal { 1024, 1024 } end },
  { "pad", 32, function(x) return ops.pad(x, { { 1, 1 }, { 1, 1 } }) end, plane },
  { "flip", 32, function(x) return ops.flip(x, 1) end, plane },
  { "roll", 32, function(x) return ops.roll(x, 7, 1) end, plane },
  { "take_rows", 32, function(x, i) return ops.take(x, i, 0) end, plane,
    function() return integers(4096, 4096) end },
  { "take_columns", 32, function(x, i) return ops.take(x, i, 1) end, plane,
    function() return integers(1024, 1024) end },
  { "take_along", 48, function(x, i) return ops.take_along_axis(x, i, 1) end, plane,
    function() return integers(1024, 4096, 1024) end },
  { "one_hot", 16, function(i) return ops.one_hot(i, 1024) end,
    function() return integers(1024, 4096) end },
  { "segment_sum", 16, function(x, i) return ops.segment_sum(x, i, 64) end, plane,
    function() return integers(64, 4096) end },
  { "sort_last", 32, function(x) return ops.sort(x, -1) end, plane },
  { "sort_all", 32, function(x) return ops.sort(x:reshape { -1 }) end, plane },
  { "argsort_last", 32, function(x) return ops.argsort(x, -1) end, plane },
  { "top_k_10", 16, function(x) return (ops.top_k(x, 10)) end, plane },
  { "searchsorted", 32, function(s, x) return ops.searchsorted(s, x) end,
    function() return ops.sort(cr.random.normal { 1000 }) end, plane },
  { "bincount", 16, function(i) return ops.bincount(i) end,
    function() return integers(1000, 4194304) end },
  { "histogram", 16, function(x) return ops.histogram(x, { bins = 100 }) end, plane },
  { "unique", 2, function(i) return ops.unique(i) end,
    function() return integers(1000, 524288) end },
  { "fft", 64, function(x, y) return ops.fft { x, y } end, plane, plane },
  { "rfft", 32, function(x) return ops.rfft(x) end, plane },
  { "stft", 36, function(x) return ops.stft(x, 256, 128, 256) end,
    function() return cr.random.normal { 64, 16384 } end },
  { "resize_bilinear", 15, function(x) return ops.image.resize(x, { 128, 128 }) end,
    function() return cr.random.normal { 16, 256, 256, 3 } end },
  { "affine_images", 24, function(x, t) return ops.image.affine_transform(x, t) end,
    function() return cr.random.normal { 16, 256, 256, 3 } end,
    function()
      return ops.tile(cr.tensor { { 0.9, 0.1, 3, -0.1, 0.9, 5, 0, 0 } }, { 16, 1 })
    end },
  { "map_coordinates", 12, function(x, i) return ops.image.map_coordinates(x, i, 1) end,
    function() return cr.random.normal { 1024, 1024 } end,
    function() return cr.random.uniform({ 2, 1024, 1024 }, 0, 1023) end },
  { "matmul_odd", 3, ops.matmul, function() return cr.random.normal { 517, 509 } end,
    function() return cr.random.normal { 509, 511 } end },
  { "einsum", 24, function(x, y) return ops.einsum("bqhd,bkhd->bhqk", x, y) end,
    function() return cr.random.normal { 8, 256, 8, 64 } end,
    function() return cr.random.normal { 8, 256, 8, 64 } end },
  { "solve", 5, ops.solve, function() return cr.random.normal { 2048, 16, 16 } end,
    function() return cr.random.normal { 2048, 16, 4 } end },
  { "inv", 4, ops.inv, function() return cr.random.normal { 2048, 16, 16 } end },
  { "cholesky", 4, ops.cholesky, positive },
  { "eigh", 4, function(x) return (ops.eigh(x)) end, positive },
  { "svd", 4, function(x) return (ops.svd(x, false)) end,
    function() return cr.random.normal { 2048, 16, 16 } end },
  { "qr", 4, function(x) return (ops.qr(x)) end,
    function() return cr.random.normal { 2048, 16, 16 } end },
  { "solve_one", 4, ops.solve, function() return cr.random.normal { 512, 512 } end,
    function() return cr.random.normal { 512, 512 } end },
  { "random_normal", 16, function() return cr.random.normal { 4096, 1024 } end },
}

for _, row in ipairs(rows) do
  local name, size, f = row[1], row[2], row[3]
  measure.op("op_" .. name, size * MiB, f, table.unpack(row, 4))
end
