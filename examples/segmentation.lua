-- Semantic segmentation: a small U-Net learns to classify each pixel as disc, square or background.
--   crescent examples/segmentation.lua [EPOCHS]
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
local epochs = tonumber(arg[1]) or 12
local image_size, picture_count = 32, 800
print "A U-Net learns to find discs and squares in noisy pictures, pixel by pixel."
cr.random.seed(1)
math.randomseed(1)

-- Two matrices: the column and the row of each pixel.
local pixel_columns, pixel_rows = table.unpack(
  ops.meshgrid(ops.arange(image_size), ops.arange(image_size)))

--- Draws a noisy picture of a disc (class 1) and a square (class 2) in front of it; returns the
--- picture and the class of each pixel.
local function draw_picture()
  local function random_position() return math.random(6, image_size - 6) end
  local x, y, radius = random_position(), random_position(), math.random(5, 8)
  local is_disc = ops.less(
    (pixel_columns - x):square() + (pixel_rows - y):square(), radius * radius)
  x, y, radius = random_position(), random_position(), math.random(4, 6)
  local is_square = ops.less(ops.maximum((pixel_columns - x):abs(), (pixel_rows - y):abs()), radius)
  local pixel_classes = ops.where(is_square, 2, ops.where(is_disc, 1, 0))
  local function random_shade() return 0.4 + 0.6 * math.random() end
  local shades = cr.tensor { 0.3 * math.random(), random_shade(), random_shade() }
  local noise = cr.random.normal({ image_size, image_size }, 0, 0.1)
  return ops.take(shades, pixel_classes, 0) + noise, pixel_classes
end
local pictures, class_maps = {}, {}
for i = 1, picture_count do pictures[i], class_maps[i] = draw_picture() end
local x, y = ops.stack(pictures):reshape { picture_count, image_size, image_size, 1 },
  ops.stack(class_maps)
local train_count = picture_count * 9 // 10

-- A U-Net: two poolings down to a coarse image, then two upsamplings, each concatenated with the
-- block of the same size from the way down.
local function convolution_block(x, filters)
  x = layers.Conv2D(filters, 3, { padding = "same", use_bias = false })(x)
  return layers.ReLU()(layers.BatchNormalization()(x))
end
local input = cr.Input { shape = { image_size, image_size, 1 } }
local fine_features = convolution_block(input, 8)
local middle_features = convolution_block(layers.MaxPooling2D(2)(fine_features), 16)
local coarse_features = convolution_block(layers.MaxPooling2D(2)(middle_features), 32)
local merged_features = layers.Concatenate() { layers.UpSampling2D(2)(coarse_features),
  middle_features }
merged_features = layers.Concatenate() {
  layers.UpSampling2D(2)(convolution_block(merged_features, 16)), fine_features }
local model = cr.Model(input,
  layers.Conv2D(3, 1, { activation = "softmax" })(convolution_block(merged_features, 8)))

model:compile { optimizer = cr.optimizers.Adam(5e-3), loss = "sparse_categorical_crossentropy",
  metrics = { cr.metrics.MeanIoU { num_classes = 3, sparse_y_pred = false, name = "iou" } } }
local x_test, y_test = x:slice(train_count + 1, picture_count),
  y:slice(train_count + 1, picture_count)
model:fit(x:slice(1, train_count), y:slice(1, train_count), { batch_size = 20, epochs = epochs,
  validation_data = { x_test, y_test }, verbose = 2 })

-- Eight test pictures, the predicted classes of their pixels, and the true classes.
local predicted_classes = ops.argmax(model:predict(x_test, { verbose = 0 }), -1)
local shown_pictures = ops.concatenate({ x_test:slice(1, 8):reshape { 8, image_size, image_size },
  predicted_classes:slice(1, 8):cast "float32" / 2, y_test:slice(1, 8):cast "float32" / 2 }, 0)
local path = cr.utils.writable_path "segmentation.png"
cr.imshow(cr.ops.clip(shown_pictures, 0, 1), { columns = 8, file = path,
  title = "pictures, what the network says, what is right" })
local iou = model:evaluate(x_test, y_test, { verbose = 0, return_dict = true }).iou
print(("Intersection over union, mean of three classes: %.3f"):format(iou))
print("Picture: " .. path)
