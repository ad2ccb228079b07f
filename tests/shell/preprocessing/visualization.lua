-- Boxes and masks drawn onto images, and galleries.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/preprocessing"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"
local draw = cr.visualization

local function picture_text(images, channel)
  local lines = {}
  for _, row in ipairs(images:totable()[1]) do
    local line = {}
    for _, pixel in ipairs(row) do line[#line + 1] = pixel[channel or 1] == 0 and "." or "#" end
    lines[#lines + 1] = table.concat(line)
  end
  return table.concat(lines, "\n")
end

do -- frames of bounding boxes, drawn into images
  local images = cr.zeros { 1, 7, 9, 3 }
  local boxes = { boxes = { { { 1, 1, 8, 6 }, { 3, 3, 6, 5 } } }, labels = { { 0, -1 } } }
  local drawn_images = draw.draw_bounding_boxes(images, boxes, "xyxy", { line_thickness = 1 })
  assert(drawn_images.dtype == "uint8")
  check.same(picture_text(drawn_images), table.concat({
    ".........",
    ".#######.",
    ".#.....#.",
    ".#.....#.",
    ".#.....#.",
    ".#######.",
    "........." }, "\n"))
  boxes = { boxes = { { { 3 / 9, 3 / 7, 3 / 9, 2 / 7 } } }, labels = { { 4 } } }
  drawn_images = draw.draw_bounding_boxes(images, boxes, "rel_xywh", { color = { 0, 200, 0 } })
  check.same(picture_text(drawn_images, 2), table.concat({
    ".........",
    ".........",
    "..#####..",
    "..#####..",
    "..#####..",
    "..#####..",
    "........." }, "\n"))
  assert(drawn_images[1][4][4][2] == 200 and drawn_images[1][4][4][1] == 0)
  local bright_drawing = draw.draw_bounding_boxes(cr.ones { 1, 2, 2, 3 },
    { boxes = cr.zeros { 1, 0, 4 }, labels = cr.zeros { 1, 0 } }, "xyxy")
  check.near(bright_drawing, cr.ones { 1, 2, 2, 3 } * 255)
  check.fails(function()
    draw.draw_bounding_boxes(images, boxes, "xyxy", { class_mapping = { [4] = "cat" } })
  end, "class_mapping")
  check.fails(function() draw.draw_bounding_boxes(images[1], boxes, "xyxy") end, "4D", "(7, 9, 3)")
  check.fails(function() draw.draw_bounding_boxes(images, boxes.boxes, "xyxy") end, "'boxes'")
end

do -- masks in the palette of Keras; classes from num_classes on are not drawn
  local images = cr.ones { 1, 1, 4, 3 } * 100
  local masks = cr.tensor({ 0, 1, 2, 3 }, "int32"):reshape { 1, 1, 4, 1 }
  local drawn_images = draw.draw_segmentation_masks(images, masks,
    { num_classes = 3, ignore_index = 0 })
  -- the color of class 1 is (2^25 - 1, 2^15 - 1, 2^21 - 1) % 255
  check.same(drawn_images:totable(), { { { { 100, 100, 100 }, { 20, 121, 44 }, { 21, 223, 69 },
    { 100, 100, 100 } } } })
  local plain_images = draw.draw_segmentation_masks(images, masks,
    { num_classes = 2, blend = false, color_mapping = { [0] = { 1, 2, 3 }, { 4, 5, 6 } } })
  check.same(plain_images:totable()[1][1],
    { { 1, 2, 3 }, { 4, 5, 6 }, { 100, 100, 100 }, { 100, 100, 100 } })
  check.fails(function() draw.draw_segmentation_masks(images, cr.ones { 1, 1, 4, 1 }) end,
    "integer",
    "float32")
  check.fails(function()
    draw.draw_segmentation_masks(images, masks,
      { num_classes = 2, color_mapping = { { 1, 1, 1 } } })
  end, "class 0")
end
-- ---- galleries of images, written to files of every kind

local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "a"
  file:close()
  return bytes
end

--- The content of the file with this ending to which the gallery is written.
local function draw_gallery(gallery, images, ending, options, ...)
  options.path = check.temporary(ending)
  local arguments = table.pack(...)
  arguments[arguments.n + 1] = options
  assert(gallery(images, table.unpack(arguments)) == options.path)
  return read_file(options.path), options.path
end

local function size_of(path) return { table.unpack(cr.utils.load_img(path).shape, 1, 2) } end
local function count_of(text, part) return select(2, text:gsub(part, "")) end

do -- images in a grid that is nearly square, labelled with the names of their classes
  local images = cr.random.uniform({ 7, 8, 8, 3 }, 0, 255)
  local names = { [0] = "cat", "dog" }
  local svg = draw_gallery(draw.plot_image_gallery, images, ".svg",
    { y_true = { 0, 1, 0, 1, 0, 1, 0 }, label_map = names })
  assert(count_of(svg, "<image") == 7 and count_of(svg, ">cat<") == 4
    and count_of(svg, ">dog<") == 3)
  assert(svg:find 'width="360"') -- 3 columns of 2 inches with 60 points per inch
  svg = draw_gallery(draw.plot_image_gallery, images, ".svg",
    { y_true = cr.tensor({ 0, 1, 0, 1, 0, 1, 0 }), y_pred = cr.ones { 7 }, label_map = names })
  assert(count_of(svg, ">true: cat<") == 4 and count_of(svg, ">predicted: dog<") == 7)
  svg = draw_gallery(draw.plot_image_gallery, images, ".svg",
    { rows = 2, cols = 2, y_pred = { 5, 6, 7, 8, 9, 9, 9 } })
  assert(count_of(svg, "<image") == 4 and svg:find ">8<" and not svg:find ">9<")
  local _, path = draw_gallery(draw.plot_image_gallery, images, ".png",
    { rows = 1, scale = 1, dpi = 50 })
  check.same(size_of(path)[2], 350)
  local gallery_text = draw_gallery(draw.plot_image_gallery, images, ".txt",
    { y_true = { 0, 0, 0, 0, 0, 0, 0 }, label_map = names, cols = 7 })
  assert(count_of(gallery_text, "cat") == 7)
end

do -- the options value_range and data_format of galleries
  local function first_pixel(images, options)
    local _, path = draw_gallery(draw.plot_image_gallery, images, ".png", options)
    return cr.utils.load_img(path)[1][1]:totable()
  end
  local plain_images = cr.ones { 1, 2, 2, 3 }
  check.same(first_pixel(plain_images, {}), { 1, 1, 1 })
  check.same(first_pixel(plain_images, { value_range = { 0, 1 } }), { 255, 255, 255 })
  check.same(first_pixel(plain_images * 0, { value_range = { -1, 1 } }), { 128, 128, 128 })
  local red_image = cr.ops.concatenate({ plain_images * 255, plain_images * 0 }, 0)
    :slice({ 1, 1, 1, 1 }, { 1, 2, 2, 3 })
  red_image = red_image * cr.tensor { 1, 0, 0 }
  check.same(first_pixel(cr.ops.transpose(red_image, { 0, 3, 1, 2 }),
    { data_format = "channels_first" }),
    { 255, 0, 0 })
end

do -- boxes in different colors for true and predicted ones
  local boxes = { boxes = { { { 2, 2, 6, 6 }, { 0, 0, 0, 0 } } }, labels = { { 1, -1 } } }
  local predicted_boxes = { boxes = { { { 10, 10, 14, 14 } } }, labels = { { 0 } } }
  local _, path = draw_gallery(draw.plot_bounding_box_gallery, cr.zeros { 1, 16, 16, 3 }, ".png",
    { y_true = boxes, y_pred = predicted_boxes, scale = 1, dpi = 16, line_thickness = 1 }, "xyxy")
  local image = cr.utils.load_img(path)
  check.same(image[3][3]:totable(), { 0, 188, 212 })
  check.same(image[11][11]:totable(), { 255, 235, 59 })
  check.same(image[9][9]:totable(), { 0, 0, 0 })
  local svg = draw_gallery(draw.plot_bounding_box_gallery, cr.zeros { 1, 16, 16, 1 }, ".svg",
    { y_true = boxes, y_pred = predicted_boxes, class_mapping = { [0] = "cat", "dog" },
    legend = true },
    "xyxy")
  for _, text in ipairs { "true: dog", "predicted: cat", "Ground Truth", "Prediction" } do
    assert(svg:find(">" .. text .. "<", 1, true), text)
  end
  assert(svg:find "#00bcd4" and svg:find "#ffeb3b")
end

do -- masks are shown beside the image
  local masks = cr.tensor({ 0, 1, 1, 0 }, "int32"):reshape { 1, 2, 2, 1 }
  local _, path = draw_gallery(draw.plot_segmentation_mask_gallery, cr.ones { 1, 2, 2, 3 } * 100,
    ".png",
    { y_true = masks, y_pred = 1 - masks, alpha = 1, scale = 1, dpi = 2,
      color_mapping = { [0] = { 255, 0, 0 }, { 0, 0, 255 } } }, 2)
  local image = cr.utils.load_img(path)
  check.same({ table.unpack(image.shape) }, { 2, 6, 3 })
  check.same(image[1][1]:totable(), { 100, 100, 100 })
  check.same(image[1][3]:totable(), { 255, 0, 0 })
  check.same(image[1][5]:totable(), { 0, 0, 255 })
end

do -- error messages for mistakes
  local images = cr.zeros { 2, 4, 4, 3 }
  local gallery = draw.plot_image_gallery
  check.fails(function() gallery(images, { path = "a.png", show = true }) end,
    "`show` must be false")
  check.fails(function() gallery(images[1]) end, "plot_image_gallery", "4D")
  check.fails(function() gallery(images, { value_range = { 1, 1 } }) end, "value_range")
  check.fails(function() gallery(images, { y_true = { 1 } }) end, "expected 2 labels, got 1")
  check.fails(function() gallery(images, { path = "a.pdf" }) end, "plot_image_gallery", "'a.pdf'")
  check.fails(function() gallery(images, { legend_handles = { { "a", 3 } } }) end, "legend_handles")
  assert(gallery(images, { show = false }) == nil)
end
print "ok"
