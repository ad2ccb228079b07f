-- Bounding boxes: their formats, and layers that transform them together with images. The numbers
-- are those of Keras 3.15.1.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/preprocessing"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"
local layers, boxes = cr.layers, cr.utils.bounding_boxes

local b = cr.tensor { { 10, 20, 50, 60 }, { 70, 80, 100, 120 } }
local other_boxes = cr.tensor { { 15, 25, 50, 70 }, { 0, 0, 100, 90 }, { -1, -1, -1, -1 } }

do -- conversion between formats, in both directions
  local size = { height = 200, width = 160 }
  local boxes_by_format = {
    xyxy = { { 10, 20, 50, 60 }, { 70, 80, 100, 120 } },
    yxyx = { { 20, 10, 60, 50 }, { 80, 70, 120, 100 } },
    xywh = { { 10, 20, 40, 40 }, { 70, 80, 30, 40 } },
    center_xywh = { { 30, 40, 40, 40 }, { 85, 100, 30, 40 } },
    center_yxhw = { { 40, 30, 40, 40 }, { 100, 85, 40, 30 } },
    rel_xyxy = { { 0.0625, 0.1, 0.3125, 0.3 }, { 0.4375, 0.4, 0.625, 0.6 } },
    rel_yxyx = { { 0.1, 0.0625, 0.3, 0.3125 }, { 0.4, 0.4375, 0.6, 0.625 } },
    rel_xywh = { { 0.0625, 0.1, 0.25, 0.2 }, { 0.4375, 0.4, 0.1875, 0.2 } },
    rel_center_xywh = { { 0.1875, 0.2, 0.25, 0.2 }, { 0.53125, 0.5, 0.1875, 0.2 } },
  }
  for name, expected in pairs(boxes_by_format) do
    check.near(boxes.convert_format(b, "XYXY", name, size), cr.tensor(expected))
    for target, expected_boxes in pairs(boxes_by_format) do
      check.near(boxes.convert_format(cr.tensor(expected), name, target, size),
        cr.tensor(expected_boxes))
    end
  end
  local converted_boxes = boxes.convert_format({ boxes = b, labels = { 1, 2 } }, "xyxy", "xywh")
  check.near(converted_boxes.boxes, cr.tensor(boxes_by_format.xywh))
  check.same(converted_boxes.labels, { 1, 2 })
  check.near(boxes.convert_format(cr.tensor(boxes_by_format.rel_xywh), "rel_xywh", "rel_xyxy",
    size),
    cr.tensor(boxes_by_format.rel_xyxy))
  check.fails(function() boxes.convert_format(b, "xyxy", "rel_xyxy") end, "height", "width")
  check.fails(function() boxes.convert_format(b, "xyxy", "xyhw") end, "Supported formats", "xywh")
  check.fails(function() boxes.convert_format(cr.ones { 2, 3 }, "xyxy", "xywh") end,
    "last dimension of 4", "(2, 3)")
end

do -- compute_iou: the overlap of boxes with other boxes
  check.near(boxes.compute_iou(b, other_boxes, "xyxy"),
    cr.tensor { { 0.6282051, 0.1777778, 0 }, { 0, 0.03030303, 0 } })
  check.near(boxes.compute_iou(other_boxes, other_boxes, "xyxy", { use_masking = true }),
    cr.tensor { { 1, 0.175, -1 }, { 0.175, 1, -1 }, { -1, -1, -1 } })
  local batch = cr.ops.stack { b, b + 1 }
  check.same(boxes.compute_iou(batch, other_boxes, "xyxy").shape, { 2, 2, 3 })
  check.near(boxes.compute_iou(other_boxes, batch, "xyxy")[1],
    boxes.compute_iou(other_boxes, b, "xyxy"))
  check.near(boxes.compute_ciou(b, other_boxes:slice(1, 2), "xyxy"),
    cr.tensor { 0.61285734, -0.14411585 })
  check.fails(function() boxes.compute_iou(b, other_boxes, "rel_xyxy") end, "image_shape")
  check.fails(function() boxes.compute_iou(b[1], other_boxes, "xyxy") end, "len(boxes1.shape)=1")
end

do -- boxes relative to anchor boxes, as deltas
  local anchors, options = other_boxes:slice(1, 2), { variance = { 0.1, 0.1, 0.2, 0.2 } }
  local deltas = boxes.encode_box_to_deltas(anchors, b, "xyxy", "xyxy", options)
  check.near(deltas, cr.tensor { { -1.6666667, -0.7142857, -0.5889151, 0.66765720 },
    { 6.1111112, 3.5, -4.0546508, -6.0198641 } })
  check.near(boxes.decode_deltas_to_boxes(anchors, deltas, "xyxy", "xyxy", options), b)
  local levels = boxes.decode_deltas_to_boxes({ P3 = anchors }, { P3 = b / 100 }, "xyxy", "xywh",
    options)
  check.near(levels.P3, cr.tensor { { 13.468805, 23.083654, 39.462395, 49.732689 },
    { -5.5624580, -3.6631241, 127.124908, 109.926246 } })
  check.fails(function()
    boxes.encode_box_to_deltas(anchors, b, "xyxy", "xyxy", { variance = { 1, 2 } })
  end, "length 4")
  check.fails(function()
    boxes.encode_box_to_deltas(anchors, b, "xyxy", "xyxy", { encoding_format = "xywh" })
  end, "center_xywh")
end

do -- moving and resizing boxes
  check.near(boxes.crop(b, 10, 20, 40, 30), cr.tensor { { 0, 10, 30, 40 }, { 30, 40, 30, 40 } })
  check.near(boxes.pad(b, 3, 4), cr.tensor { { 14, 23, 54, 63 }, { 74, 83, 104, 123 } })
  local clipped_boxes = boxes.clip_to_image_size({ labels = cr.tensor({ 0, 1, 2 }, "int32"),
    boxes = { { -10, -20, 150, 160 }, { 50, 40, 70, 80 }, { 130, 20, 140, 30 } } },
    { height = 100, width = 120 })
  check.near(clipped_boxes.boxes,
    cr.tensor { { 0, 0, 120, 100 }, { 50, 40, 70, 80 }, { 120, 20, 120, 30 } })
  check.same(clipped_boxes.labels:totable(), { 0, 1, -1 })
  assert(boxes.clip_to_image_size({ boxes = b }, { height = 9, width = 9 }).labels == nil)
  check.near(boxes.affine_transform(b, 30, 0.1, -0.05, 1.2, 5, 3, 200, 160),
    cr.tensor { { -40.809944, 11.147407, 30.415283, 75.795868 },
      { 66.027901, 48.111099, 126.383537, 107.304199 } }, 1e-3)
  check.fails(function() boxes.pad(b, 1, 1, { bounding_box_format = "xywh" }) end, "xyxy")
end

local images = cr.random.uniform { 1, 20, 30, 3 }
local box_data = { boxes = cr.tensor { { { 4, 5, 10, 9 }, { 12, 3, 25, 18 } } },
  labels = cr.tensor({ { 2, 7 } }, "int32") }

do -- boxes transformed together with images, with deterministic options
  local function check_transformed(layer, expected, labels)
    local result = layer { images = images, bounding_boxes = box_data }
    check.near(result.bounding_boxes.boxes, cr.tensor { expected }, 1e-4)
    check.same(result.bounding_boxes.labels:totable(), { labels or { 2, 7 } })
    check.same(result.bounding_boxes.labels.dtype, "int32")
  end
  local xyxy = "xyxy"
  check_transformed(layers.RandomRotation({ 0.1, 0.1 }, { bounding_box_format = xyxy }),
    { { 3.3602886, 8.5044575, 10.565532, 15.267237 }, { 8.6568537, 0, 27.990857, 17.846107 } })
  check_transformed(layers.RandomTranslation({ 0.1, 0.1 }, { -0.2, -0.2 },
    { bounding_box_format = xyxy }), { { 0, 7, 4, 11 }, { 6, 5, 19, 20 } })
  check_transformed(layers.RandomZoom({ 0.3, 0.3 }, { -0.2, -0.2 }, { bounding_box_format = xyxy }),
    { { 1.375, 6.0384615, 8.875, 9.1153841 }, { 11.375, 4.5, 27.625, 16.038460 } })
  check_transformed(layers.CenterCrop(10, 12, { bounding_box_format = xyxy }),
    { { 0, 0, 1, 4 }, { 3, 0, 12, 10 } })
  check_transformed(layers.CenterCrop(30, 12, { bounding_box_format = xyxy }),
    { { 0, 7.5, 0, 13.5 }, { 1.5, 4.5, 12, 27 } }, { -1, 7 })
  check_transformed(layers.Resizing(10, 12, { bounding_box_format = xyxy }),
    { { 1.6, 2.5, 4, 4.5 }, { 4.8, 1.5, 10, 9 } })
  check_transformed(layers.Resizing(10, 12, { crop_to_aspect_ratio = true,
    bounding_box_format = xyxy }),
    { { 0.5, 2.5, 3.5, 4.5 }, { 4.5, 1.5, 11, 9 } }) -- the box encloses the same pixels as before
  check_transformed(layers.Resizing(10, 12, { pad_to_aspect_ratio = true,
    bounding_box_format = xyxy }),
    -- The box encloses the same pixels as before.
    { { 1.6, 7 / 2.4, 4, 11 / 2.4 }, { 4.8, 5 / 2.4, 10, 20 / 2.4 } })
  check_transformed(layers.RandomBrightness(0.5, { bounding_box_format = xyxy }),
    { { 4, 5, 10, 9 }, { 12, 3, 25, 18 } })
  check_transformed(layers.MaxNumBoundingBoxes(3, { bounding_box_format = xyxy }),
    { { 4, 5, 10, 9 }, { 12, 3, 25, 18 }, { -1, -1, -1, -1 } }, { 2, 7, -1 })
  check_transformed(layers.MaxNumBoundingBoxes(1, { bounding_box_format = xyxy }),
    { { 4, 5, 10, 9 } },
    { 2 })
end

-- A transformed box must enclose the transformed mask of the area that it enclosed before.
local function extent_of(mask)
  local rows, columns = table.unpack(cr.ops.nonzero(mask))
  if rows.shape[1] == 0 then return nil end
  return { cr.ops.min(columns):item(), cr.ops.min(rows):item(), cr.ops.max(columns):item() + 1,
    cr.ops.max(rows):item() + 1 }
end

local function check_boxes_follow_masks(layer, tolerance)
  local mask = cr.ops.pad(cr.ones { 1, 7, 12, 1 }, { { 0, 0 }, { 4, 9 }, { 11, 7 }, { 0, 0 } })
  local result = layer { images = images, segmentation_masks = mask,
    bounding_boxes = { boxes = { { { 11, 4, 12, 7 } } }, labels = { { 3 } } } }
  local extent = extent_of(result.segmentation_masks[1]:reshape {
    result.images.shape[2], result.images.shape[3] })
  local label = result.bounding_boxes.labels:item()
  if not extent then return end
  assert(label == 3, "the box is gone, its inside is not")
  local x, y, width, height = table.unpack(result.bounding_boxes.boxes:totable()[1][1])
  for i, expected_edge in ipairs { x, y, x + width, y + height } do
    if math.abs(expected_edge - extent[i]) > tolerance then
      error(("%s: edge %d is at %g, its inside ends at %g")
        :format(layer.class_name, i, expected_edge, extent[i]))
    end
  end
end

do
  local black_fill = { fill_mode = "constant", interpolation = "nearest",
    bounding_box_format = "xywh" }
  local function with_black_fill(options)
    for key, value in pairs(black_fill) do options[key] = value end
    return options
  end
  local flip_options = { bounding_box_format = "xywh" }
  for seed = 1, 6 do
    flip_options.seed = seed
    check_boxes_follow_masks(layers.RandomFlip("horizontal", flip_options), 0)
    check_boxes_follow_masks(layers.RandomFlip("vertical", flip_options), 0)
    check_boxes_follow_masks(layers.RandomFlip(flip_options), 0)
    check_boxes_follow_masks(layers.RandomCrop(15, 21, flip_options), 0)
    check_boxes_follow_masks(layers.RandomCrop(30, 21, flip_options), 2)
    check_boxes_follow_masks(layers.RandomTranslation(0.3, 0.3, with_black_fill { seed = seed }), 1)
    check_boxes_follow_masks(layers.RandomRotation(0.25, with_black_fill { seed = seed }), 1.5)
    check_boxes_follow_masks(layers.RandomZoom(0.3, 0.2, with_black_fill { seed = seed }), 1.5)
    check_boxes_follow_masks(layers.RandomShear(0.3, 0.2, with_black_fill { seed = seed }), 1.5)
    check_boxes_follow_masks(layers.RandomPerspective { scale = 0.4, interpolation = "nearest",
      bounding_box_format = "xywh", seed = seed }, 2)
    check_boxes_follow_masks(layers.RandAugment { num_ops = 1, interpolation = "nearest",
      bounding_box_format = "xywh", seed = seed, factor = 0.2 }, 30)
  end
end

do -- in inference boxes stay unchanged, except where the size of images changes
  local options = { bounding_box_format = "rel_xyxy" }
  local normalized_boxes = { boxes = { { { 0.5, 0.5, 1, 1 } } }, labels = { { 1 } } }
  local flip = layers.RandomFlip(options)
  check.near(
    flip({ images = images, bounding_boxes = normalized_boxes },
    { training = false }).bounding_boxes.boxes,
    cr.tensor(normalized_boxes.boxes), 0)
  local crop = layers.RandomCrop(10, 15, options)
  check.near(
    crop({ images = images, bounding_boxes = normalized_boxes },
    { training = false }).bounding_boxes.boxes,
    cr.tensor(normalized_boxes.boxes))
  local mixed_data = layers.MixUp(options) { images = images, bounding_boxes = normalized_boxes }
  check.same(mixed_data.bounding_boxes.boxes.shape, { 1, 2, 4 })
  local resized_data = layers.Resizing(5, 5, options) { images = images[1],
    bounding_boxes = { boxes = normalized_boxes.boxes[1], labels = normalized_boxes.labels[1] } }
  check.same(resized_data.bounding_boxes.boxes.shape, { 1, 4 })
  check.near(resized_data.bounding_boxes.boxes, cr.tensor(normalized_boxes.boxes[1]))
end

do -- boxes pass through several layers, and through a layer of a graph
  local options = { bounding_box_format = "xyxy" }
  local pipeline = layers.Pipeline { layers.Resizing(40, 60, options),
    layers.RandomTranslation({ 0.1, 0.1 }, { 0, 0 }, options) }
  local result = pipeline { images = images, bounding_boxes = box_data,
    labels = cr.tensor { 1 }, segmentation_masks = images }
  check.near(result.bounding_boxes.boxes, cr.tensor { { { 8, 14, 20, 22 }, { 24, 10, 50, 40 } } },
    1e-4)
  check.same(result.segmentation_masks.shape, { 1, 40, 60, 3 })
  check.same(layers.Resizing(4, 4, options):get_config().bounding_box_format, "xyxy")
  assert(layers.RandomFlip():get_config().bounding_box_format == nil)

  local i, k = cr.Input { shape = { 20, 30, 3 } }, cr.Input { shape = { 2, 4 } }
  local n = cr.Input { shape = { 2 } }
  local resized_symbols = layers.Resizing(10, 15, options) { images = i,
    bounding_boxes = { boxes = k, labels = n } }
  local model = cr.Model { inputs = { i, k, n },
    outputs = { resized_symbols.images, resized_symbols.bounding_boxes.boxes,
    resized_symbols.bounding_boxes.labels } }
  local predictions = model:predict({ images, box_data.boxes, box_data.labels }, { verbose = 0 })
  check.near(predictions[2], box_data.boxes / 2)
end

do -- error messages for mistakes
  check.fails(function() layers.RandomFlip() { images = images, bounding_boxes = box_data } end,
    "didn't specify a bounding box format", "RandomFlip")
  local flip = layers.RandomFlip { bounding_box_format = "xyxy" }
  check.fails(function() flip { images = images, bounding_boxes = box_data.boxes } end,
    "keys 'boxes' and 'labels'")
  check.fails(function()
    flip { images = images, bounding_boxes = { boxes = box_data.boxes, labels = cr.ones { 1, 3 } } }
  end, "(batch, count, 4)", "(1, 3)")
  check.fails(function() layers.RandomFlip { bounding_box_format = "xyhw" } end, "xywh")
  for _, name in ipairs { "CutMix", "RandomElasticTransform" } do
    check.fails(function()
      layers[name] { bounding_box_format = "xyxy" } { images = images, bounding_boxes = box_data }
    end, "does not move bounding boxes", "segmentation_masks")
  end
  check.fails(function()
    layers.Pipeline { layers.Rescaling(2) } { images = images, bounding_boxes = box_data }
  end, "Rescaling", "does not take bounding_boxes")
end
print "ok"
