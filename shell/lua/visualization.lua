-- cr.visualization draws boxes and masks on images, and galleries of them.
local cr, shell = ...
local ops = cr.ops

local function check_images(images)
  if #images.shape ~= 4 then
    shell.fail("`images` must be batched 4D tensor. Received: images.shape=(",
      table.concat(images.shape, ", "), ")")
  end
end

local function as_channels_last(x, data_format)
  return data_format == "channels_first" and ops.transpose(x, { 0, 2, 3, 1 }) or x
end

--- Pixel values from 0 to 255, which may be fractions for floating-point images.
local function as_pixels(images)
  if not images.dtype:find "float" then return ops.cast(images, "uint8") end
  local factor = ops.max(images):item() <= 1 and 255 or 1
  return ops.cast(ops.clip(images * factor, 0, 255), "uint8")
end

local data_format = { name = "data_format", type = "a text", default = "channels_last",
  doc = "Position of the channels: \"channels_last\" or \"channels_first\"." }

local visualization = {}

visualization.draw_bounding_boxes = shell.define("draw_bounding_boxes -> a tensor",
  "Draws bounding boxes into images (batch, height, width, channels); returns uint8. Boxes with "
    .. "the label -1 are skipped.", {
    { name = "images", type = "a tensor", doc = "", required = true },
    { name = "bounding_boxes", type = "a table of boxes and labels", doc = "", required = true },
    { name = "bounding_box_format", type = "a text", doc = "Format of the boxes.",
      required = true },
    { name = "class_mapping", type = "a table", doc = "Refused: no text is drawn." },
    { name = "color", type = "three numbers", doc = "Colour of the boxes; grey by default." },
    { name = "line_thickness", type = "an integer", default = 2,
      doc = "Thickness of lines in pixels." },
    { name = "text_thickness", type = "an integer", default = 1,
      doc = "Refused unless 1: no text is drawn." },
    { name = "font_scale", type = "a number", default = 1.0,
      doc = "Refused unless 1: no text is drawn." },
    data_format,
  }, function(images, bounding_boxes, format, class_mapping, color, thickness, text_thickness,
    font_scale, channel_order)
    check_images(images)
    color = color or { 128, 128, 128 }
    if class_mapping or text_thickness ~= 1 or font_scale ~= 1 then
      shell.fail("draw_bounding_boxes: names are not written into images, so there is no ",
        class_mapping and "class_mapping" or text_thickness ~= 1 and "text_thickness"
        or "font_scale")
    end
    if type(bounding_boxes) ~= "table" or not (bounding_boxes.boxes and bounding_boxes.labels) then
      shell.fail("`bounding_boxes` should be a dict containing 'boxes' and 'labels' keys.")
    end
    local result = as_pixels(as_channels_last(images, channel_order))
    local batch, height, width, channels = table.unpack(result.shape)
    if #color ~= channels then
      shell.fail("draw_bounding_boxes: expected a color of ", channels, " numbers, got ", #color)
    end
    local convert_format = cr.utils.bounding_boxes.convert_format
    local boxes = ops.cast(convert_format(bounding_boxes.boxes, format, "xyxy",
      { height = height, width = width }), "int32")
    local labels = cr.ops.convert_to_tensor(bounding_boxes.labels)
    local rows, columns = ops.arange(height):reshape { 1, height, 1, 1 },
      ops.arange(width):reshape { 1, 1, width, 1 }
    local paint_color = ops.cast(cr.tensor(color):reshape { 1, 1, 1, channels }, "uint8")
    local outer_thickness, inner_thickness = thickness // 2, thickness - thickness // 2
    for i = 1, boxes.shape[2] do
      local edges = boxes:slice({ 1, i }, { -1, i })
      local function edge(k)
        return edges:slice({ 1, 1, k }, { -1, 1, k }):reshape { batch, 1, 1, 1 }
      end
      local left, top, right, bottom = edge(1), edge(2), edge(3), edge(4)
      local function expand_range(margin)
        local x = ops.logical_and(ops.greater_equal(columns, left - margin),
          ops.less(columns, right + margin))
        local y = ops.logical_and(ops.greater_equal(rows, top - margin),
          ops.less(rows, bottom + margin))
        return ops.logical_and(x, y)
      end
      local is_labelled =
        ops.not_equal(labels:slice({ 1, i }, { -1, i }):reshape { batch, 1, 1, 1 }, -1)
      local frame = ops.logical_and(expand_range(outer_thickness),
        ops.logical_not(expand_range(-inner_thickness)))
      result = ops.where(ops.logical_and(frame, is_labelled), paint_color, result)
    end
    return result
  end)

--- The colors of `count` classes, the same as in Keras.
local function palette(count)
  local colors = {}
  for i = 0, count - 1 do
    colors[i] = { i * (2 ^ 25 - 1) % 255, i * (2 ^ 15 - 1) % 255, i * (2 ^ 21 - 1) % 255 }
  end
  return colors
end

visualization.draw_segmentation_masks = shell.define("draw_segmentation_masks -> a tensor",
  "Draws segmentation masks over images (batch, height, width, channels); returns uint8.", {
    { name = "images", type = "a tensor", doc = "", required = true },
    { name = "segmentation_masks", type = "a tensor",
      doc = "Integer class of each pixel (batch, height, width, 1).", required = true },
    { name = "num_classes", type = "an integer",
      doc = "Number of classes to draw; by default up to the largest in the masks." },
    { name = "color_mapping", type = "a table",
      doc = "Colours by class: { [0] = { 255, 0, 0 } }." },
    { name = "alpha", type = "a number", default = 0.8,
      doc = "Opacity of the masks, from 0 to 1." },
    { name = "blend", type = "a boolean", default = true,
      doc = "Blend masks with images; false returns the colours alone as float32." },
    { name = "ignore_index", type = "an integer", default = -1,
      doc = "A class that is not drawn." },
    data_format,
  }, function(images, masks, num_classes, color_mapping, alpha, blend, ignore_index, channel_order)
    check_images(images)
    if not masks.dtype:find "int" then
      shell.fail(
        "`segmentation_masks` must be in integer dtype. Received: segmentation_masks.dtype=",
        masks.dtype)
    end
    if #masks.shape == 3 then
      masks = ops.expand_dims(masks, channel_order == "channels_first" and 1 or -1)
    end
    images = ops.cast(as_channels_last(images, channel_order), "float32")
    masks = ops.cast(as_channels_last(masks, channel_order), "int32")
    num_classes = num_classes or math.tointeger(ops.max(masks):item())
    local colors, painted_images = color_mapping or palette(num_classes), images
    for class = 0, num_classes - 1 do
      local color = colors[class]
      if not color then
        shell.fail("draw_segmentation_masks: color_mapping has no color for class ", class)
      end
      painted_images = ops.where(ops.equal(masks, class), cr.tensor(color), painted_images)
    end
    if not blend then return painted_images end
    local blended_images = images * (1 - alpha) + painted_images * alpha
    return ops.cast(ops.where(ops.not_equal(masks, ignore_index), blended_images, images), "uint8")
  end)

for name, gallery in pairs(shell.library "visualization/galleries") do
  visualization[name] = gallery
end

return visualization
