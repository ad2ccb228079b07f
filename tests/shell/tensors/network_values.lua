-- Extreme arguments of functions for networks and for images; the expected results are those of
-- Keras 3.15.1.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local tensor_checks = require "tensor_checks"
local cr = require "crescent"
local ops, t = cr.ops, cr.tensor
local check_row, ints = tensor_checks.check, tensor_checks.ints

do -- attention with a mask of queries and keys
  local q = ops.reshape(ops.arange(8.0), { 1, 2, 2, 2 })
  local mask = t { { 1, 0 }, { 1, 1 } }:cast "bool"
  check_row("attention by a mask of two axes", ops.dot_product_attention(q, q, q, { mask = mask }),
    ops.dot_product_attention(q, q, q, { is_causal = true }):totable())
end
do -- a query for which all keys are masked weighs all keys equally
  local q, v = cr.tensor { { { { 3, -2 } } } }, cr.tensor { { { { 1, 5 } }, { { 3, -1 } } } }
  local k = cr.tensor { { { { 2, 1 } }, { { -1, 4 } } } }
  local all_false = cr.tensor { { { { false, false } } } }
  for _, dtype in ipairs { "float16", "bfloat16", "float32", "float64" } do
    local f = function(q, k, v) return ops.dot_product_attention(q, k, v, { mask = all_false }) end
    local arguments = { q:cast(dtype), k:cast(dtype), v:cast(dtype) }
    check_row("attention to nothing, " .. dtype, f(table.unpack(arguments)), { { { { 2, 2 } } } })
    check_row("attention to nothing, compiled, " .. dtype, cr.compiled(f)(table.unpack(arguments)),
      { { { { 2, 2 } } } })
  end
end
do -- with a bias, scores of half width are computed in float32, as without
  local mask = cr.tensor { { { { 0, 0 }, { 1, 1 } } } }
  for _, dtype in ipairs { "float16", "bfloat16" } do
    local q, k = ops.ones({ 1, 2, 1, 4 }, dtype), ops.ones({ 1, 2, 1, 4 }, dtype) * 1000
    local v = cr.tensor({ { { { 1 } }, { { 3 } } } }, dtype)
    for _, options in ipairs { { bias = ops.zeros({ 1, 1, 2, 2 }, dtype) },
      { attn_logits_soft_cap = 10 } } do
      for _, mask_or_false in ipairs { false, mask } do
        options.mask = mask_or_false or nil
        local y = ops.dot_product_attention(q * 100, k, v, options)
        assert(y.dtype == dtype)
        check_row("attention with a bias, " .. dtype, y, { { { { 2 } }, { { 2 } } } })
      end
    end
  end
  check.fails(function() ops.dot_product_attention(ops.ones { 1, 2, 5, 4 }, ops.ones { 1, 3, 0, 4 },
    ops.ones { 1, 3, 0, 4 }) end, "multiple of the number of key heads", "(1, 2, 5, 4)",
    "(1, 3, 0, 4)")
end
do -- visible scores far below those of masked keys leave finite gradients
  local q, k = ops.full({ 1, 2, 1, 1 }, -1e5), ops.full({ 1, 2, 1, 1 }, 1e5)
  local v, y = cr.tensor { { { { 1 } }, { { 4 } } } }, nil
  local tape = cr.GradientTape(function()
    y = ops.sum(ops.dot_product_attention(q, k, v, { scale = 1, is_causal = true }))
  end, { q, k })
  for _, gradient in ipairs(tape:gradient(y, { q, k })) do
    assert(ops.all(ops.isfinite(gradient)):item())
  end
end
for _, name in ipairs { "depth_to_space", "space_to_depth" } do
  for _, size in ipairs { 1, 0, -2, 1 << 40 } do
    check.fails(function() ops[name](ops.ones { 1, 2, 2, 4 }, size) end, name, "block_size")
  end
  check.fails(function() ops[name](ops.ones { 2, 2, 4 }, 2) end, "four axes", "(2, 2, 4)")
end
for _, name in ipairs { "adaptive_max_pool", "average_pool", "max_pool" } do
  check.fails(function() ops[name](t(1), 2) end, "expected (batch, ..., channels), got shape ()")
end
do -- float16 and bfloat16 are computed in float32, which is the dtype of the results, as in Keras
  local outputs = t { { { 0, 1, 2 }, { 2, 0, 1 }, { 1, 2, 0 }, { 0, 1, 0 } } }
  local function loss_in(dtype)
    local value = ops.ctc_loss(ints { { 1, 2 } }, outputs:cast(dtype), ints { 2 }, ints { 4 })
    check.same(value.dtype, "float32")
    for _, strategy in ipairs { "greedy", "beam_search" } do
      local _, scores = ops.ctc_decode(outputs:cast(dtype), ints { 4 }, { strategy = strategy })
      check.same(scores.dtype, "float32")
    end
    return value
  end
  check.near(loss_in "float16", loss_in "float32", 2e-3)
  check.near(loss_in "bfloat16", loss_in "float32", 2e-2)
end

do -- beam search adds the probabilities of paths: "a" by a-, -a and aa has 0.45, "" by -- has 0.36
  local log_probabilities = ops.log(t { { { 0.6, 0.3, 0.1 }, { 0.6, 0.3, 0.1 } } })
  local function decode(options) return ops.ctc_decode(log_probabilities, ints { 2 }, options) end
  check_row("the greedy way", decode(), { -1, -1 })
  local labels, scores = decode { strategy = "beam_search", top_paths = 2 }
  check.same(labels.shape, { 2, 1, 2 })
  check_row("labels of the search", labels, { 1, -1, -1, -1 }, "int32")
  check.near(ops.exp(scores), { { 0.45, 0.36 } }, 1e-5)
  labels, scores = decode { strategy = "beam_search", top_paths = 9, mask_index = cr.null }
  check.near(ops.exp(scores)[1], { 0.48, 0.18, 0.18, 0.15, 0.01, 0, 0, 0, 0 }, 1e-5)
  check_row("what is not found", labels:slice(9, 9), { -1, -1 })
  local narrow_scores = select(2, decode { strategy = "beam_search", beam_width = 1 })
  check.near(ops.exp(narrow_scores), { { 0.36 } }, 1e-5)
  check.fails(function() decode { strategy = "best" } end, "'greedy' or 'beam_search', got 'best'")
  check.fails(function() decode { strategy = "beam_search", beam_width = 0 } end, "at least 1")
end
do -- images deformed by noise (elastic_transform)
  local images = cr.random.uniform({ 2, 9, 8, 3 }, { seed = 1 })
  local options = { alpha = 3, sigma = 2, seed = 5 }
  local deformed_images = ops.image.elastic_transform(images, options)
  check.same(deformed_images.shape, { 2, 9, 8, 3 })
  assert(ops.max(ops.abs(deformed_images - images)):item() > 0.1)
  check.near(ops.image.elastic_transform(images, options), deformed_images:totable())
  check.near(ops.image.elastic_transform(images, 0), images:totable())
  options.data_format = "channels_first"
  check.near(ops.image.elastic_transform(images:transpose { 0, 3, 1, 2 }, options),
    deformed_images:transpose({ 0, 3, 1, 2 }):totable())
  local constant_image = ops.ones({ 8, 8, 1 }, "uint8")
  check_row("equal numbers stay", ops.image.elastic_transform(constant_image),
    constant_image:totable(),
    "uint8")
  check.fails(function() ops.image.elastic_transform(images, { sigma = 0 }) end, "sigma")
  check.fails(function() ops.image.elastic_transform(t { 1 }) end, "or one image, got")
  local wrong_options = { data_format = "channels_frist" }
  local function expect_refusal(f, ...)
    local arguments = table.pack(...)
    check.fails(function() f(table.unpack(arguments)) end, "data_format must be")
  end
  expect_refusal(ops.image.elastic_transform, images, wrong_options)
  expect_refusal(ops.image.sobel_edges, images, wrong_options)
  expect_refusal(ops.image.ssim, images, images, wrong_options)
  expect_refusal(ops.image.affine_transform, images, ops.ones { 2, 8 }, wrong_options)
end
do -- structural similarity of images with data_format "channels_first"
  local a, b = cr.random.uniform { 2, 12, 13, 3 }, cr.random.uniform { 2, 12, 13, 3 }
  local function channels_first(images) return images:transpose { 0, 3, 1, 2 } end
  local expected = ops.image.ssim(a, b)
  check.near(ops.image.ssim { image1 = channels_first(a), image2 = channels_first(b),
    data_format = "channels_first" }, expected:totable(), 1e-5)
  check.near(ops.image.ssim(channels_first(a)[1], channels_first(b)[1],
    { data_format = "channels_first" }),
    expected:totable()[1], 1e-5)
end
print "ok network_values"
