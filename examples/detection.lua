-- Object detection: a small network finds a disc, a square or a cross in a noisy picture; one
-- output is the class of the object, the other its bounding box.
--   crescent examples/detection.lua [EPOCHS]
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
local epochs = tonumber(arg[1]) or 25
local image_size, picture_count = 32, 1200
local kind_names = { "disc", "square", "cross" }
print "A network learns to find a disc, a square or a cross, and to put a box around it."
cr.random.seed(1)
math.randomseed(1)

-- Two matrices: the column and the row of each pixel.
local pixel_columns, pixel_rows = table.unpack(
  ops.meshgrid(ops.arange(image_size), ops.arange(image_size)))

--- Draws a random object; returns the picture, the class of the object (0 to 2), and its bounding
--- box {left, top, right, bottom} in fractions of the picture's size.
local function draw_object()
  local class, half_size = math.random(0, 2), math.random(3, 8)
  local x, y = math.random(half_size, image_size - half_size - 1),
    math.random(half_size, image_size - half_size - 1)
  local dx, dy = (pixel_columns - x):abs(), (pixel_rows - y):abs()
  local distance = class == 0 and (dx:square() + dy:square()):cast "float32":sqrt()
    or ops.maximum(dx, dy):cast "float32"
  if class == 2 then
    distance = distance + ops.where(ops.less(ops.minimum(dx, dy), 2), 0, image_size)
  end
  local is_inside = ops.less_equal(distance, half_size)
  local picture = ops.where(is_inside, 0.5 + 0.5 * math.random(), 0.3 * math.random())
  return picture, class, { (x - half_size) / image_size, (y - half_size) / image_size,
    (x + half_size + 1) / image_size,
    (y + half_size + 1) / image_size }
end
local pictures, labels, boxes = {}, {}, {}
for i = 1, picture_count do pictures[i], labels[i], boxes[i] = draw_object() end
local x = (ops.stack(pictures)
  + cr.random.normal({ picture_count, image_size, image_size }, 0, 0.1))
  :reshape { picture_count, image_size, image_size, 1 }
local y = { kind = cr.tensor(labels, "int32"), box = cr.tensor(boxes) }
local train_count = picture_count * 9 // 10
local function data_between(first, last)
  return x:slice(first, last), { kind = y.kind:slice(first, last), box = y.box:slice(first, last) }
end

local input = cr.Input { shape = { image_size, image_size, 1 } }
local features = input
for _, filters in ipairs { 16, 32, 64 } do
  features = layers.Conv2D(filters, 3, { padding = "same", activation = "relu" })(features)
  features = layers.MaxPooling2D(2)(features)
end
features = layers.Dense(64, { activation = "relu" })(layers.Flatten()(features))
local model = cr.Model { inputs = input, outputs = {
  kind = layers.Dense(3, { activation = "softmax" })(features),
  box = layers.Dense(4, { activation = "sigmoid" })(features),
} }
model:compile {
  optimizer = cr.optimizers.Adam(2e-3),
  loss = { kind = "sparse_categorical_crossentropy", box = "huber" },
  loss_weights = { kind = 1, box = 300 },
  metrics = { kind = { "accuracy" } },
}
local x_train, y_train = data_between(1, train_count)
model:fit(x_train, y_train, { batch_size = 40, epochs = epochs, verbose = 2 })

-- For the test pictures: the intersection over union (IoU) of the predicted and the true boxes.
local x_test, y_test = data_between(train_count + 1, picture_count)
local predictions = model:predict(x_test, { verbose = 0 })
local predicted_box, true_box = predictions.box:transpose(), y_test.box:transpose()
local function area(box) return ops.relu(box[3] - box[1]) * ops.relu(box[4] - box[2]) end
local intersection = area {
  ops.maximum(predicted_box[1], true_box[1]), ops.maximum(predicted_box[2], true_box[2]),
  ops.minimum(predicted_box[3], true_box[3]), ops.minimum(predicted_box[4], true_box[4]),
}
local iou = (intersection / (area(predicted_box) + area(true_box) - intersection)):mean():item()
local predicted_kinds = ops.argmax(predictions.kind, -1)
local accuracy = ops.equal(predicted_kinds:cast "int32", y_test.kind):cast "float32":mean():item()

local shown_count = 8
local colour_pictures = ops["repeat"](ops.clip(x_test:slice(1, shown_count), 0, 1), 3, -1)
local pictures_with_boxes = cr.visualization.draw_bounding_boxes(colour_pictures, {
  boxes = ops.expand_dims(predictions.box:slice(1, shown_count) * image_size, 1),
  labels = cr.zeros { shown_count, 1 },
}, "xyxy", { color = { 255, 160, 0 }, line_thickness = 1 })
local predicted_names = {}
for i = 1, shown_count do predicted_names[i] = kind_names[predicted_kinds[i] + 1] end
local path = cr.utils.writable_path "detection.png"
cr.imshow(pictures_with_boxes, { labels = predicted_names, columns = 4, file = path })
print(("Kinds named rightly: %.1f %%; boxes overlap by %.3f"):format(100 * accuracy, iou))
print("Picture: " .. path)
