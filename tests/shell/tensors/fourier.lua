-- Fourier transforms compared with their defining sums, and their gradients.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/tensors"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"
local ops = cr.ops

--- cos and sin of 2 pi j k / n.
local function cosines_and_sines(n)
  local k = ops.arange(n)
  local turns = ops.mod(ops.matmul(k:reshape { n, 1 }, k:reshape { 1, n }), n)
  local angle = ops.cast(turns, "float32") * (2 * math.pi / n)
  return ops.cos(angle), ops.sin(angle)
end

-- powers of two, lengths with small factors, and other lengths; single rows, and rows that are
-- transformed together
local lengths = { 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 27, 30, 38, 64, 98, 100, 143, 256, 1000 }
for _, n in ipairs(lengths) do
  local c, s = cosines_and_sines(n)
  for _, rows in ipairs { 1, 3, 8, 19 } do
    local x, y = cr.random.normal { rows, n }, cr.random.normal { rows, n }
    local re, im = ops.fft { x, y }
    local tolerance = 2e-5 * n
    check.near(re, ops.matmul(x, c) + ops.matmul(y, s), tolerance)
    check.near(im, ops.matmul(y, c) - ops.matmul(x, s), tolerance)
    local single_row = ops.fft { x:slice(1, 1), y:slice(1, 1) }
    check.near(single_row, re:slice(1, 1), 0)

    local half_re, half_im = ops.rfft(x)
    check.same(half_re.shape, { rows, n // 2 + 1 })
    local count = n // 2 + 1
    check.near(half_re, ops.slice_axis(ops.matmul(x, c), 1, 0, count), tolerance)
    check.near(half_im, ops.slice_axis(-ops.matmul(x, s), 1, 0, count), tolerance)
    check.near(ops.irfft({ half_re, half_im }, { fft_length = n }), x, 1e-5)
  end
end

do -- imaginary parts of the first element, and of the last one of a row of even length, are ignored
  for _, n in ipairs { 7, 8, 34 } do
    local half = n // 2 + 1
    local re, im = cr.random.normal { 9, half }, cr.random.normal { 9, half }
    local is_used = ops.logical_and(ops.greater(ops.arange(half), 0),
      ops.not_equal(ops.arange(half) * 2, n)):cast "float32"
    check.near(ops.irfft({ re, im }, n), ops.irfft({ re, im * is_used }, n), 1e-6)
  end
end

do -- rows longer than those that are transformed together
  local n = 16384
  local x = cr.random.normal { 3, n }
  local re, im = ops.rfft(x)
  check.near(ops.irfft { re, im }, x, 1e-5)
  check.near(ops.sum(x, -1), re:slice({ 1, 1 }, { -1, 1 }):reshape { 3 }, 1e-2)
end

do -- results are the same for any number of threads, and in a compiled function
  local x = cr.random.normal { 50, 96 }
  local re = ops.rfft(x)
  check.near(cr.compiled(function(t) return (ops.rfft(t)) end)(x), re, 0)
  local threads = cr.config.threads()
  cr.config.set_threads(1)
  check.near(ops.rfft(x), re, 0)
  cr.config.set_threads(threads)
end

do -- the gradient of sum(weights * transform) is the transform of the weights
  for _, n in ipairs { 6, 7, 8 } do
    local c, s = cosines_and_sines(n)
    local x, w = cr.Variable(cr.random.normal { 2, n }), cr.random.normal { 2, n // 2 + 1 }
    local v = cr.random.normal { 2, n // 2 + 1 }
    local loss
    local tape = cr.GradientTape(function()
      local re, im = ops.rfft(x + 0)
      loss = ops.sum(re * w + im * v)
    end)
    local frequencies = n // 2 + 1
    local expected = ops.matmul(w, ops.slice_axis(c, 0, 0, frequencies))
      - ops.matmul(v, ops.slice_axis(s, 0, 0, frequencies))
    check.near(tape:gradient(loss, { x })[1], expected, 1e-4)
  end
end
-- window = false gives the same results as a window of ones
do
  local signal = cr.random.normal({ 16 }, { seed = 4 })
  local re, im = ops.stft(signal, 4, 2, 4, { window = false })
  local same_re, same_im = ops.stft(signal, 4, 2, 4, { window = cr.ones { 4 } })
  check.near(re, same_re, 0)
  check.near(im, same_im, 0)
end
print "ok"
