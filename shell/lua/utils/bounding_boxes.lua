-- cr.utils.bounding_boxes: the functions of cr.ops.bounding_boxes, which here also accept tables of
-- boxes and labels, or of levels, as in Keras.
local cr, shell = ...

-- If the plugin image_operations is missing, this table has no functions, but the rest of cr.utils
-- works.
local has_plugin, box_ops = pcall(function() return cr.ops.bounding_boxes end)
if not has_plugin then return {} end

local functions = {}
for _, name in ipairs { "affine_transform", "compute_ciou", "compute_iou", "crop",
  "encode_box_to_deltas", "pad" } do
  functions[name] = box_ops[name]
end

local function is_table(x) return type(x) == "table" and not cr.describe(x) and #x == 0 end

--- A copy of the table in which the members of `replacements` replace those of the same name.
local function with_members(table, replacements)
  local copy = {}
  for key, value in pairs(table) do copy[key] = value end
  for key, value in pairs(replacements) do copy[key] = value end
  return copy
end

local format_option = { name = "bounding_box_format", type = "a text", default = "xyxy",
  doc = "Format of the boxes." }
local height_option = { name = "height", type = "a number", doc = "Height of the image." }
local width_option = { name = "width", type = "a number", doc = "Width of the image." }

functions.convert_format = shell.define("convert_format -> a tensor",
  "Converts boxes to another format: xyxy, yxyx, xywh, center_xywh, center_yxhw, or one of "
    .. "these with the prefix rel_.", {
    { name = "boxes", type = "a tensor, or a table with boxes", doc = "", required = true },
    { name = "source", type = "a text", doc = "The format of the given boxes.", required = true },
    { name = "target", type = "a text", doc = "The format to convert to.", required = true },
    height_option, width_option,
    { name = "dtype", type = "a text", default = "float32", doc = "Dtype of the result." },
  }, function(boxes, source, target, image_height, image_width, dtype)
    local function convert(x)
      return box_ops.convert_format(x, source, target,
        { height = image_height, width = image_width, dtype = dtype })
    end
    if not is_table(boxes) then return convert(boxes) end
    if not boxes.boxes then shell.fail("convert_format: the table has no boxes") end
    return with_members(boxes, { boxes = convert(boxes.boxes) })
  end)

functions.clip_to_image_size = shell.define("clip_to_image_size -> a tensor",
  "Boxes clipped to the image; the label of a box outside becomes -1.", {
    { name = "bounding_boxes", type = "a table with boxes and perhaps labels", doc = "",
      required = true },
    height_option, width_option, format_option,
  }, function(box_table, image_height, image_width, box_format)
    if not is_table(box_table) or not box_table.boxes then
      shell.fail("clip_to_image_size: expected a table with boxes (and labels)")
    end
    local boxes, labels = box_ops.clip_to_image_size(box_table.boxes,
      { labels = box_table.labels, height = image_height, width = image_width,
        bounding_box_format = box_format })
    return with_members(box_table, { boxes = boxes, labels = box_table.labels and labels })
  end)

functions.decode_deltas_to_boxes = shell.define("decode_deltas_to_boxes -> a tensor",
  "The boxes that lie at these offsets from anchors.", {
    { name = "anchors", type = "a tensor, or a table of them",
      doc = "The anchors, by level.", required = true },
    { name = "boxes_delta", type = "a tensor, or a table of them", doc = "The offsets, by level.",
      required = true },
    { name = "anchor_format", type = "a text", doc = "Format of the anchors.", required = true },
    { name = "box_format", type = "a text", doc = "Format of the result.", required = true },
    { name = "encoded_format", type = "a text", default = "center_yxhw",
      doc = "Format of the offsets." },
    { name = "variance", type = "four numbers", doc = "Factors of the offsets." },
    { name = "image_shape", type = "{height, width, channels}",
      doc = "Shape of the image, for relative formats." },
  }, function(anchors, deltas, anchor_format, box_format, encoded_format, variance, image_shape)
    local function decode(a, d)
      return box_ops.decode_deltas_to_boxes(a, d, anchor_format, box_format,
        { encoded_format = encoded_format, variance = variance, image_shape = image_shape })
    end
    if not (is_table(anchors) and is_table(deltas)) then return decode(anchors, deltas) end
    local boxes = {}
    for level, anchor in pairs(anchors) do boxes[level] = decode(anchor, deltas[level]) end
    return boxes
  end)

return { bounding_boxes = functions }
