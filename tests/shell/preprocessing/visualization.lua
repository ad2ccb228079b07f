-- Boxes and masks drawn into images.
local here = arg and arg[0]:match "^(.*)/" or "tests/shell/preprocessing"
package.path = here .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"
local draw = cr.visualization

local function picture(images, channel)
  local lines = {}
  for _, row in ipairs(images:totable()[1]) do
    local line = {}
    for _, pixel in ipairs(row) do line[#line + 1] = pixel[channel or 1] == 0 and "." or "#" end
    lines[#lines + 1] = table.concat(line)
  end
  return table.concat(lines, "\n")
end

do -- frames
  local images = cr.zeros { 1, 7, 9, 3 }
  local boxes = { boxes = { { { 1, 1, 8, 6 }, { 3, 3, 6, 5 } } }, labels = { { 0, -1 } } }
  local drawn = draw.draw_bounding_boxes(images, boxes, "xyxy", { line_thickness = 1 })
  assert(drawn.dtype == "uint8")
  check.same(picture(drawn), table.concat({
    ".........",
    ".#######.",
    ".#.....#.",
    ".#.....#.",
    ".#.....#.",
    ".#######.",
    "........." }, "\n"))
  boxes = { boxes = { { { 3 / 9, 3 / 7, 3 / 9, 2 / 7 } } }, labels = { { 4 } } }
  drawn = draw.draw_bounding_boxes(images, boxes, "rel_xywh", { color = { 0, 200, 0 } })
  check.same(picture(drawn, 2), table.concat({
    ".........",
    ".........",
    "..#####..",
    "..#####..",
    "..#####..",
    "..#####..",
    "........." }, "\n"))
  assert(drawn[1][4][4][2] == 200 and drawn[1][4][4][1] == 0)
  local bright = draw.draw_bounding_boxes(cr.ones { 1, 2, 2, 3 },
    { boxes = cr.zeros { 1, 0, 4 }, labels = cr.zeros { 1, 0 } }, "xyxy")
  check.near(bright, cr.ones { 1, 2, 2, 3 } * 255)
  check.fails(function()
    draw.draw_bounding_boxes(images, boxes, "xyxy", { class_mapping = { [4] = "cat" } })
  end, "class_mapping")
  check.fails(function() draw.draw_bounding_boxes(images[1], boxes, "xyxy") end, "4D", "(7, 9, 3)")
  check.fails(function() draw.draw_bounding_boxes(images, boxes.boxes, "xyxy") end, "'boxes'")
end

do -- masks: Keras' palette, classes below num_classes
  local images = cr.ones { 1, 1, 4, 3 } * 100
  local masks = cr.tensor({ 0, 1, 2, 3 }, "int32"):reshape { 1, 1, 4, 1 }
  local drawn = draw.draw_segmentation_masks(images, masks, { num_classes = 3, ignore_index = 0 })
  -- class 1: (2^25 - 1, 2^15 - 1, 2^21 - 1) % 255
  check.same(drawn:totable(), { { { { 100, 100, 100 }, { 20, 121, 44 }, { 21, 223, 69 },
    { 100, 100, 100 } } } })
  local plain = draw.draw_segmentation_masks(images, masks,
    { num_classes = 2, blend = false, color_mapping = { [0] = { 1, 2, 3 }, { 4, 5, 6 } } })
  check.same(plain:totable()[1][1],
    { { 1, 2, 3 }, { 4, 5, 6 }, { 100, 100, 100 }, { 100, 100, 100 } })
  check.fails(function() draw.draw_segmentation_masks(images, cr.ones { 1, 1, 4, 1 }) end,
    "integer",
    "float32")
  check.fails(function()
    draw.draw_segmentation_masks(images, masks,
      { num_classes = 2, color_mapping = { { 1, 1, 1 } } })
  end, "class 0")
end
print "ok"
