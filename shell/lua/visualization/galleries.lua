-- The galleries of cr.visualization: batches of images in a grid, with labels or boxes.
local cr, shell = ...
local ops = cr.ops

local function as_channels_last(x, data_format)
  return data_format == "channels_first" and ops.transpose(x, { 0, 2, 3, 1 }) or x
end

--- Converts images to fractions of the range; their shape becomes (batch, height, width, channels).
local function as_fractions(name, images, range, data_format)
  images = cr.ops.convert_to_tensor(images)
  if #images.shape ~= 4 then
    shell.fail(name, ": `images` must be batched 4D tensor. Received: images.shape=(",
      table.concat(images.shape, ", "), ")")
  end
  range = range or { 0, 255 }
  if type(range) ~= "table" or #range ~= 2 or not (range[1] < range[2]) then
    shell.fail(name, ": value_range: expected two numbers, the lower one first, got ",
      cr.show(range))
  end
  images = ops.cast(as_channels_last(images, data_format), "float32")
  return ops.clip((images - range[1]) / (range[2] - range[1]), 0, 1)
end

--- The numbers of rows and columns of a grid for `count` images; a number that is not given is
--- computed from the other.
local function grid_of(count, rows, columns)
  for option, number in pairs { rows = rows, cols = columns } do
    if not (math.tointeger(number) and number >= 1) then
      shell.fail("gallery: ", option, ": expected an integer of at least 1, got ", cr.show(number))
    end
  end
  if not (rows or columns) then columns = math.ceil(math.sqrt(count)) end
  columns = columns or math.ceil(count / rows)
  return rows or math.ceil(count / columns), columns
end

--- The name of a class; its number if it has none.
local function name_of(class, names)
  local number = math.tointeger(class) or class
  return tostring(names and (names[number] or names[tostring(number)]) or number)
end

--- A list of classes, from a tensor or a list.
local function classes_in(name, y, count)
  if y == nil then return nil end
  local classes = cr.ops.convert_to_tensor(y):reshape({ -1 }):totable()
  if #classes < count then
    shell.fail(name, ": expected ", count, " labels, got ", #classes)
  end
  return classes
end

--- The caption of an image: the true and the predicted class, one per line.
local function caption(true_name, predicted_name)
  if true_name and predicted_name then
    return "true: " .. true_name .. "\npredicted: " .. predicted_name
  end
  return true_name or predicted_name
end

--- Converts legend handles to the list of {label, color} that figures take.
local function legend_of(name, handles)
  local legend = {}
  for i, handle in ipairs(handles or {}) do
    local label, color = handle.label or handle[1], handle.color or handle[2]
    if type(color) ~= "table" or #color ~= 3 then
      shell.fail(name, ": legend_handles: expected a list of { label, { red, green, blue } }, got ",
        cr.show(handle))
    end
    legend[i] = { label = tostring(label), color = color }
  end
  return #legend > 0 and legend or nil
end

--- Draws images, given as fractions from 0 to 1, with captions; `o` has the options that all
--- galleries have.
local function gallery(name, images, captions, o)
  if o.path and o.show then
    shell.fail(name, ": plot is saved to `path` and cannot be shown; `show` must be false")
  end
  if o.show == false and not o.path then return nil end
  local rows, columns = grid_of(images.shape[1], o.rows, o.cols)
  local count = math.min(images.shape[1], rows * columns)
  local labels = {}
  for i = 1, count do labels[i] = captions and captions[i] or "" end
  local figure = { kind = "images", pixels = images:slice(1, count), columns = columns,
    labels = captions and labels or nil, legend = legend_of(name, o.legend_handles) }
  local in_pixels = o.path and not o.path:find "%.txt$"
  local width = in_pixels and math.min(columns, count) * o.scale * o.dpi or nil
  return shell.library("figures").show(name, figure, { file = o.path, width = width, scale = 1 })
end

-- ---- options

local images_row = { name = "images", type = "a tensor", required = true, takes_lists = true,
  doc = "Images (batch, height, width, 1, 3 or 4)." }
local value_range_row = { name = "value_range", type = "two numbers", takes_lists = true,
  doc = "The values of black and white; { 0, 255 } when not given." }
local rows_row = { name = "rows", type = "an integer",
  doc = "Rows of the grid; as many as needed when not given." }
local cols_row = { name = "cols", type = "an integer",
  doc = "Columns of the grid; a square grid when not given." }
local scale_row = { name = "scale", type = "a number", default = 2,
  doc = "Size of an image in inches." }
local path_row = { name = "path", type = "a text",
  doc = "A path that ends in .svg, .png or .txt; without one the grid is drawn at the terminal." }
local show_row = { name = "show", type = "a boolean",
  doc = "Draw at the terminal; by default only if there is no path." }
local transparent_row = { name = "transparent", type = "a boolean", default = true,
  doc = "Ignored: pictures have a white background." }
local dpi_row = { name = "dpi", type = "an integer", default = 60,
  doc = "Resolution in dots per inch." }
local legend_handles_row = { name = "legend_handles", type = "a list", takes_lists = true,
  doc = "Entries of the legend, each a text and its colour: { { 'cat', { 255, 0, 0 } } }." }
local data_format_row = { name = "data_format", type = "a text", default = "channels_last",
  doc = "Position of the channels: \"channels_last\" or \"channels_first\"." }

local galleries = {}

galleries.plot_image_gallery = shell.define("plot_image_gallery -> a path, or nothing",
  "Draws a grid of images with their classes, at the terminal or into a file.", {
    images_row,
    { name = "y_true", type = "a tensor or a list", takes_lists = true,
      doc = "True classes, written below the images." },
    { name = "y_pred", type = "a tensor or a list", takes_lists = true,
      doc = "Predicted classes, written below the images." },
    { name = "label_map", type = "a table", takes_names = true,
      doc = "Names of the classes: { [0] = 'cat', 'dog' }." },
    rows_row, cols_row, value_range_row, scale_row, path_row, show_row, transparent_row,
    dpi_row, legend_handles_row, data_format_row,
  }, function(images, y_true, y_pred, label_map, rows, cols, range, image_scale, file, is_shown, _,
    resolution,
    handles, channel_order)
    local name = "plot_image_gallery"
    images = as_fractions(name, images, range, channel_order)
    local count = images.shape[1]
    local true_classes, predicted_classes = classes_in(name, y_true, count),
      classes_in(name, y_pred, count)
    local captions = (true_classes or predicted_classes) and {}
    for i = 1, captions and count or 0 do
      captions[i] = caption(true_classes and name_of(true_classes[i], label_map),
        predicted_classes and name_of(predicted_classes[i], label_map))
    end
    return gallery(name, images, captions, { rows = rows, cols = cols, scale = image_scale,
      path = file,
      show = is_shown, dpi = resolution, legend_handles = handles })
  end)

--- The names of the classes of an image's boxes; boxes with the label -1 are padding and are
--- skipped.
local function names_of_boxes(labels, image, names)
  local box_names = {}
  for _, class in ipairs(cr.ops.convert_to_tensor(labels)[image]:totable()) do
    if class ~= -1 then box_names[#box_names + 1] = name_of(class, names) end
  end
  return table.concat(box_names, ", ")
end

galleries.plot_bounding_box_gallery = shell.define(
  "plot_bounding_box_gallery -> a path, or nothing",
  "Draws a grid of images with true and predicted bounding boxes, at the terminal or into a "
    .. "file.", {
    images_row,
    { name = "bounding_box_format", type = "a text", doc = "Format of the boxes.",
      required = true },
    { name = "y_true", type = "a table of boxes and labels", takes_names = true,
      doc = "True boxes: { boxes = (batch, count, 4), labels = (batch, count) }; the label -1 "
        .. "marks unused boxes." },
    { name = "y_pred", type = "a table of boxes and labels", takes_names = true,
      doc = "Predicted values, in the form of y_true." },
    value_range_row,
    { name = "true_color", type = "three numbers", takes_lists = true,
      doc = "Colour of true boxes; { 0, 188, 212 } when not given." },
    { name = "pred_color", type = "three numbers", takes_lists = true,
      doc = "Colour of predicted boxes; { 255, 235, 59 } when not given." },
    { name = "line_thickness", type = "an integer", default = 2,
      doc = "Thickness of lines in pixels of the images." },
    { name = "font_scale", type = "a number", default = 1.0,
      doc = "Ignored: names are written below the images." },
    { name = "text_thickness", type = "an integer", doc = "Ignored." },
    { name = "class_mapping", type = "a table", takes_names = true,
      doc = "Names of the classes, written below the images: { [0] = 'cat', 'dog' }." },
    { name = "ground_truth_mapping", type = "a table", takes_names = true,
      doc = "Names of the classes of true boxes; class_mapping when not given." },
    { name = "prediction_mapping", type = "a table", takes_names = true,
      doc = "Names of the classes of predicted boxes; class_mapping when not given." },
    { name = "legend", type = "a boolean", default = false,
      doc = "Explain the colours below the images." },
    legend_handles_row, rows_row, cols_row, data_format_row, scale_row, path_row, show_row,
    transparent_row, dpi_row,
  }, function(images, format, y_true, y_pred, range, true_color, pred_color, thickness, _, _,
    class_mapping, true_names, pred_names, legend, handles, rows, cols, channel_order, image_scale,
    file, is_shown,
    _, resolution)
    local name = "plot_bounding_box_gallery"
    true_color, pred_color = true_color or { 0, 188, 212 }, pred_color or { 255, 235, 59 }
    true_names, pred_names = true_names or class_mapping, pred_names or class_mapping
    images = ops.cast(ops.round(as_fractions(name, images, range, channel_order) * 255), "uint8")
    if images.shape[4] == 1 then images = ops.concatenate({ images, images, images }, -1) end
    local function with_frames(boxes, color)
      return boxes and cr.visualization.draw_bounding_boxes(images, boxes, format,
        { color = color, line_thickness = thickness }) or images
    end
    images = with_frames(y_true, true_color)
    images = with_frames(y_pred, pred_color)
    local captions = class_mapping or true_names or pred_names
    captions = captions and {}
    for i = 1, captions and images.shape[1] or 0 do
      captions[i] = caption(y_true and true_names and names_of_boxes(y_true.labels, i, true_names),
        y_pred and pred_names and names_of_boxes(y_pred.labels, i, pred_names))
    end
    if legend and not handles then
      handles = { { "Ground Truth", true_color }, { "Prediction", pred_color } }
    end
    return gallery(name, images, captions, { rows = rows, cols = cols, scale = image_scale,
      path = file,
      show = is_shown, dpi = resolution, legend_handles = handles })
  end)

galleries.plot_segmentation_mask_gallery = shell.define(
  "plot_segmentation_mask_gallery -> a path, or nothing",
  "Draws a grid of images, each beside its true and its predicted segmentation mask, at the "
    .. "terminal or into a file.", {
    images_row,
    { name = "num_classes", type = "an integer", doc = "Number of classes to draw.",
      required = true },
    value_range_row,
    { name = "y_true", type = "a tensor",
      doc = "Integer class of each pixel (batch, height, width, 1)." },
    { name = "y_pred", type = "a tensor", doc = "Predicted values, in the form of y_true." },
    { name = "color_mapping", type = "a table", takes_names = true,
      doc = "Colours by class: { [0] = { 255, 0, 0 } }." },
    { name = "blend", type = "a boolean", default = true,
      doc = "Blend masks with images; false draws the colours alone." },
    { name = "alpha", type = "a number", default = 0.8,
      doc = "Opacity of the masks, from 0 to 1." },
    { name = "ignore_index", type = "an integer", default = -1,
      doc = "A class that is not drawn." },
    data_format_row, rows_row, cols_row, scale_row, path_row, show_row, transparent_row, dpi_row,
    legend_handles_row,
  }, function(images, num_classes, range, y_true, y_pred, color_mapping, blend, alpha, ignore_index,
    channel_order, rows, cols, image_scale, file, is_shown, _, resolution, handles)
    local name = "plot_segmentation_mask_gallery"
    images = as_fractions(name, images, range, channel_order) * 255
    if images.shape[4] == 1 then images = ops.concatenate({ images, images, images }, -1) end
    local parts = { images }
    for _, masks in ipairs { y_true or false, y_pred or false } do
      parts[#parts + 1] = masks and ops.cast(cr.visualization.draw_segmentation_masks(images,
        as_channels_last(masks, channel_order), { num_classes = num_classes,
        color_mapping = color_mapping,
        alpha = alpha, blend = blend, ignore_index = ignore_index }), "float32") or nil
    end
    return gallery(name, ops.concatenate(parts, 2) / 255, nil, { rows = rows, cols = cols,
      scale = image_scale * #parts, path = file, show = is_shown, dpi = resolution,
      legend_handles = handles })
  end)

return galleries
