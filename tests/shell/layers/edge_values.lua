-- Extreme arguments of layers, losses and metrics; the expected results are those of Keras 3.15.1.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local ops, t, layers = cr.ops, cr.tensor, cr.layers

-- Softmax over two axes: masked elements give 0, also if all elements are masked.
check.near(layers.Softmax { axis = { 1, 2 } }(ops.zeros { 1, 2, 2 }),
  { { { 0.25, 0.25 }, { 0.25, 0.25 } } })
local mask = t { { 1, 0, 1 }, { 0, 0, 0 } }:cast "bool"
check.near(layers.Softmax()(t { { 1, 5, 1 }, { 1, 2, 3 } }, { mask = mask }),
  { { 0.5, 0, 0.5 }, { 0, 0, 0 } })
check.fails(function() layers.Softmax { axis = {} } end, "axis")

-- Causal padding reads no later steps, also with data_format "channels_first".
local causal_layer = layers.Conv1D(1, 2, { padding = "causal", data_format = "channels_first",
  kernel_initializer = "ones" })
check.near(causal_layer(t { { { 1, 2, 3 } } }), { { { 1, 3, 5 } } })

-- BatchNormalization uses unmasked steps only. Its channels, the middle axis, have the values 1, 3
-- and 2, 6.
local norm = layers.BatchNormalization { axis = 1, momentum = 0, epsilon = 0 }
local steps = t { { { 1, 3 }, { 2, 6 } }, { { 50, 60 }, { 70, 80 } } }
norm(steps, { training = true, mask = t { { 1, 1 }, { 0, 0 } }:cast "bool" })
check.near(norm.weights[3], { 2, 4 })
check.near(norm.weights[4], { 1, 4 })

-- Empty batches of images, and their labels, can be mixed.
for _, name in ipairs { "MixUp", "CutMix" } do
  local result = layers[name]()({ images = ops.zeros { 0, 4, 4, 3 }, labels = ops.zeros { 0, 2 } },
    { training = true })
  check.same(result.images.shape, { 0, 4, 4, 3 })
  check.same(result.labels.shape, { 0, 2 })
end

-- The gradient for silent samples is 0 for every exponent of the magnitude; other samples have a
-- gradient.
for _, exponent in ipairs { 0.5, 1, 1.5, 2, 3 } do
  local mel_layer = layers.MelSpectrogram { sequence_length = 64, sequence_stride = 32,
    fft_length = 64,
    num_mel_bins = 4, mag_exp = exponent, power_to_db = false }
  for _, amplitude in ipairs { 0, 1 } do
    local sound = cr.Variable(ops.sin(cr.arange(128):reshape { 1, 128 }) * amplitude)
    local sum
    local tape = cr.GradientTape(function() sum = ops.sum(mel_layer(sound)) end)
    local gradient = tape:gradient(sum, sound)
    assert(ops.all(ops.isfinite(gradient)):item(), exponent)
    assert((ops.max(ops.abs(gradient)):item() > 0) == (amplitude > 0), exponent)
  end
end

-- In the list of weights, those of the gate come before those of the value.
local attention = layers.MultiHeadAttention(1, 2,
  { value_dim = 3, use_gate = true, use_bias = false })
attention { ops.ones { 1, 2, 4 }, ops.ones { 1, 2, 5 } }
local shapes = {}
for i, weight in ipairs(attention.weights) do shapes[i] = table.concat(weight.shape, " ") end
check.same(shapes, { "4 1 2", "5 1 2", "4 1 3", "5 1 3", "1 3 4" })

-- Losses with extreme arguments.
local targets, predictions = t { { 1, 0 }, { 0, 1 } }, t { { 0.8, 0.2 }, { 0.4, 0.6 } }
local focal_loss = cr.losses.CategoricalFocalCrossentropy {
  alpha = { 1, 3 }, gamma = 0, reduction = "none" }
check.near(focal_loss(targets, predictions), { -math.log(0.8), -3 * math.log(0.6) })
check.fails(function()
  cr.losses.CategoricalFocalCrossentropy { alpha = { 1, 2, 3 } }(targets, predictions)
end, "each of 2 classes", "3")
local loss_per_sample = cr.losses.MeanSquaredError { reduction = "none" }
check.near(loss_per_sample(ops.zeros { 2, 2 }, ops.ones { 2, 2 }, t { { 2 }, { 3 } }),
  { { 2 }, { 3 } })
check.same(cr.losses.CosineSimilarity { axis = 0, reduction = "none" }(ops.ones { 2, 3, 4 },
  ops.ones { 2, 3, 4 }).shape, { 3, 4 })

-- Metrics with extreme arguments.
local accuracy = cr.metrics.BinaryAccuracy()
accuracy:update_state(t { 1, 0, 1 }, t { 0.9, 0.8, 0.7 }, t { 1, 2, 1 })
check.near(accuracy:result(), 0.5)
accuracy:reset_state()
-- One weight for each element.
accuracy:update_state(t { { 1, 0 } }, t { { 0.9, 0.8 } }, t { { 1, 3 } })
check.near(accuracy:result(), 0.25)
local top_1_accuracy = cr.metrics.SparseTopKCategoricalAccuracy { k = 1 }
top_1_accuracy:update_state(t { { 0, 1 } }, t { { { 0.9, 0.1 }, { 0.8, 0.2 } } })
check.near(top_1_accuracy:result(), 0.5)
-- Without sample weights, elements of an ignored class count in the mean as 0; with sample weights,
-- they do not count.
local cross_entropy = cr.metrics.SparseCategoricalCrossentropy { ignore_class = 1 }
cross_entropy:update_state(t { 0, 1 }, t { { 0.5, 0.5 }, { 0.5, 0.5 } })
check.near(cross_entropy:result(), math.log(2) / 2)
cross_entropy:reset_state()
cross_entropy:update_state(t { 0, 1 }, t { { 0.5, 0.5 }, { 0.5, 0.5 } }, t { 1, 1 })
check.near(cross_entropy:result(), math.log(2))
-- regularizers refuse factors that are not finite
for class, option in pairs { L1 = "l1", L2 = "l2", L1L2 = "l2",
  OrthogonalRegularizer = "factor" } do
  for _, factor in ipairs { math.huge, -1, 0 / 0 } do
    check.fails(function() cr.regularizers[class] { [option] = factor } end, option)
  end
end
print "ok edge_values"
