-- Semantic segmentation: a small U-Net learns to classify each pixel as disc, square or background.
--   crescent examples/segmentation.lua [EPOCHS]
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
local epochs = tonumber(arg[1]) or 12
local size, count = 32, 800
print "A U-Net learns to find discs and squares in noisy pictures, pixel by pixel."
cr.random.seed(1)
math.randomseed(1)

-- Two matrices: the column and the row of each pixel.
local columns, rows = table.unpack(ops.meshgrid(ops.arange(size), ops.arange(size)))

--- Draws a noisy picture of a disc (class 1) and a square (class 2) in front of it; returns the
--- picture and the class of each pixel.
local function draw()
  local function random_position() return math.random(6, size - 6) end
  local x, y, radius = random_position(), random_position(), math.random(5, 8)
  local is_disc = ops.less((columns - x):square() + (rows - y):square(), radius * radius)
  x, y, radius = random_position(), random_position(), math.random(4, 6)
  local is_square = ops.less(ops.maximum((columns - x):abs(), (rows - y):abs()), radius)
  local mask = ops.where(is_square, 2, ops.where(is_disc, 1, 0))
  local function random_shade() return 0.4 + 0.6 * math.random() end
  local shades = cr.tensor { 0.3 * math.random(), random_shade(), random_shade() }
  return ops.take(shades, mask, 0) + cr.random.normal({ size, size }, 0, 0.1), mask
end
local pictures, masks = {}, {}
for i = 1, count do pictures[i], masks[i] = draw() end
local x, y = ops.stack(pictures):reshape { count, size, size, 1 }, ops.stack(masks)
local train_count = count * 9 // 10

-- A U-Net: two poolings down to a coarse image, then two upsamplings, each concatenated with the
-- block of the same size from the way down.
local function block(x, filters)
  x = layers.Conv2D(filters, 3, { padding = "same", use_bias = false })(x)
  return layers.ReLU()(layers.BatchNormalization()(x))
end
local input = cr.Input { shape = { size, size, 1 } }
local fine_features = block(input, 8)
local middle_features = block(layers.MaxPooling2D(2)(fine_features), 16)
local coarse_features = block(layers.MaxPooling2D(2)(middle_features), 32)
local upsampled = layers.Concatenate() { layers.UpSampling2D(2)(coarse_features), middle_features }
upsampled = layers.Concatenate() { layers.UpSampling2D(2)(block(upsampled, 16)), fine_features }
local model = cr.Model(input, layers.Conv2D(3, 1, { activation = "softmax" })(block(upsampled, 8)))

model:compile { optimizer = cr.optimizers.Adam(5e-3), loss = "sparse_categorical_crossentropy",
  metrics = { cr.metrics.MeanIoU { num_classes = 3, sparse_y_pred = false, name = "iou" } } }
local x_test, y_test = x:slice(train_count + 1, count), y:slice(train_count + 1, count)
model:fit(x:slice(1, train_count), y:slice(1, train_count), { batch_size = 20, epochs = epochs,
  validation_data = { x_test, y_test }, verbose = 2 })

-- Eight test pictures, the predicted classes of their pixels, and the true classes.
local predicted = ops.argmax(model:predict(x_test, { verbose = 0 }), -1)
local shown_pictures = ops.concatenate({ x_test:slice(1, 8):reshape { 8, size, size },
  predicted:slice(1, 8):cast "float32" / 2, y_test:slice(1, 8):cast "float32" / 2 }, 0)
local path = cr.utils.writable_path "segmentation.png"
cr.imshow(cr.ops.clip(shown_pictures, 0, 1), { columns = 8, file = path,
  title = "pictures, what the network says, what is right" })
local iou = model:evaluate(x_test, y_test, { verbose = 0, return_dict = true }).iou
print(("Intersection over union, mean of three classes: %.3f"):format(iou))
print("Picture: " .. path)
