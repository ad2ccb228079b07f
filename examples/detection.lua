-- Object detection: a small network finds a disc, a square or a cross in a noisy picture; one
-- output is the class of the object, the other its bounding box.
--   crescent examples/detection.lua [EPOCHS]
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
local epochs = tonumber(arg[1]) or 25
local size, count = 32, 1200
local kinds = { "disc", "square", "cross" }
print "A network learns to find a disc, a square or a cross, and to put a box around it."
cr.random.seed(1)
math.randomseed(1)

local columns, rows = table.unpack(ops.meshgrid(ops.arange(size), ops.arange(size)))

--- Draws a random object; returns the picture, the class of the object (0 to 2), and its bounding
--- box {left, top, right, bottom} in fractions of the picture's size.
local function draw()
  local kind, half = math.random(0, 2), math.random(3, 8)
  local x, y = math.random(half, size - half - 1), math.random(half, size - half - 1)
  local dx, dy = (columns - x):abs(), (rows - y):abs()
  local distance = kind == 0 and (dx:square() + dy:square()):cast "float32":sqrt()
    or ops.maximum(dx, dy):cast "float32"
  if kind == 2 then distance = distance + ops.where(ops.less(ops.minimum(dx, dy), 2), 0, size) end
  local is_inside = ops.less_equal(distance, half)
  local picture = ops.where(is_inside, 0.5 + 0.5 * math.random(), 0.3 * math.random())
  return picture, kind, { (x - half) / size, (y - half) / size, (x + half + 1) / size,
    (y + half + 1) / size }
end
local pictures, labels, boxes = {}, {}, {}
for i = 1, count do pictures[i], labels[i], boxes[i] = draw() end
local x = (ops.stack(pictures) + cr.random.normal({ count, size, size }, 0, 0.1))
  :reshape { count, size, size, 1 }
local y = { kind = cr.tensor(labels, "int32"), box = cr.tensor(boxes) }
local train_count = count * 9 // 10
local function part(first, last)
  return x:slice(first, last), { kind = y.kind:slice(first, last), box = y.box:slice(first, last) }
end

local input = cr.Input { shape = { size, size, 1 } }
local seen = input
for _, filters in ipairs { 16, 32, 64 } do
  seen = layers.Conv2D(filters, 3, { padding = "same", activation = "relu" })(seen)
  seen = layers.MaxPooling2D(2)(seen)
end
seen = layers.Dense(64, { activation = "relu" })(layers.Flatten()(seen))
local model = cr.Model { inputs = input, outputs = {
  kind = layers.Dense(3, { activation = "softmax" })(seen),
  box = layers.Dense(4, { activation = "sigmoid" })(seen),
} }
model:compile {
  optimizer = cr.optimizers.Adam(2e-3),
  loss = { kind = "sparse_categorical_crossentropy", box = "huber" },
  loss_weights = { kind = 1, box = 300 },
  metrics = { kind = { "accuracy" } },
}
local x_train, y_train = part(1, train_count)
model:fit(x_train, y_train, { batch_size = 40, epochs = epochs, verbose = 2 })

-- For the test pictures: the intersection over union (IoU) of the predicted and the true boxes.
local x_test, y_test = part(train_count + 1, count)
local predicted = model:predict(x_test, { verbose = 0 })
local a, b = predicted.box:transpose(), y_test.box:transpose()
local function area(box) return ops.relu(box[3] - box[1]) * ops.relu(box[4] - box[2]) end
local common = area { ops.maximum(a[1], b[1]), ops.maximum(a[2], b[2]), ops.minimum(a[3], b[3]),
  ops.minimum(a[4], b[4]) }
local iou = (common / (area(a) + area(b) - common)):mean():item()
local guesses = ops.argmax(predicted.kind, -1)
local right = ops.equal(guesses:cast "int32", y_test.kind):cast "float32":mean():item()

local shown = 8
local colour = ops["repeat"](ops.clip(x_test:slice(1, shown), 0, 1), 3, -1)
local drawn = cr.visualization.draw_bounding_boxes(colour, {
  boxes = ops.expand_dims(predicted.box:slice(1, shown) * size, 1), labels = cr.zeros { shown, 1 },
}, "xyxy", { color = { 255, 160, 0 }, line_thickness = 1 })
local names = {}
for i = 1, shown do names[i] = kinds[guesses[i] + 1] end
local path = cr.utils.writable_path "detection.png"
cr.imshow(drawn, { labels = names, columns = 4, file = path })
print(("Kinds named rightly: %.1f %%; boxes overlap by %.3f"):format(100 * right, iou))
print("Picture: " .. path)
