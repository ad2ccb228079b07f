-- cr.plot and other functions that draw figures, at the terminal or to files.
local cr, shell = ...

local figures = shell.library "figures"
local show, call_named = figures.show, figures.call_named
local plotting = {}

local function is_tensor(value) return getmetatable(value) == "tensor" end
local function is_list(value)
  return type(value) == "table" and (#value > 0 or next(value) == nil)
end

--- Converts `value`, an argument of the function `name`, to a tensor.
local function tensor_of(name, value)
  return is_tensor(value) and value or call_named(name, cr.ops.convert_to_tensor, value)
end

--- Converts `value` as tensor_of does, but leaves a list of numbers as it is.
local function values_of(name, value)
  local is_flat = is_list(value) and type(value[1]) ~= "table"
  return is_flat and value or tensor_of(name, value)
end

local function columns_of(matrix)
  local columns = {}
  for i = 1, matrix.shape[2] do
    columns[i] = matrix:slice({ 1, i }, { -1, i }):reshape { matrix.shape[1] }
  end
  return columns
end

local function sorted_names(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = tostring(name) end
  table.sort(names)
  return names
end

--- Fails unless `labels` is empty or has one label for each of `count` series.
local function check_labels(labels, count)
  if #labels > 0 and #labels ~= count then
    shell.fail("plot: label: expected ", count, " texts, got ", #labels)
  end
end

--- The series in the argument y, each with its label: y is a tensor or list of numbers, a matrix
--- whose columns are series, a list of series, or a table of them by name.
local function series_of(y, label)
  if not is_tensor(y) and type(y) ~= "table" then
    shell.fail("plot: expected a tensor, a list or a table of these by name, got ", tostring(y))
  end
  local labels = type(label) == "table" and label or { label }
  if is_tensor(y) and #y.shape == 2 then y = columns_of(y) end
  if is_tensor(y) or (is_list(y) and not (type(y[1]) == "table" or is_tensor(y[1]))) then
    check_labels(labels, 1)
    return { { y = y, label = labels[1] } }
  end
  local series = {}
  if is_list(y) then
    check_labels(labels, #y)
    for i, values in ipairs(y) do
      series[i] = { y = values_of("plot", values), label = labels[i] }
    end
    return series
  end
  check_labels(labels, 0)
  for i, name in ipairs(sorted_names(y)) do
    series[i] = { y = values_of("plot", y[name]), label = name }
  end
  return series
end

local file_option = { name = "file", type = "a text",
  doc = "A path that ends in .svg, .png or .txt; without one the figure is drawn at the terminal." }
local width_option = { name = "width", type = "a number",
  doc = "Width in pixels, or in columns of the terminal." }
local height_option = { name = "height", type = "a number",
  doc = "Height in pixels, or in lines of the terminal." }
local title_option = { name = "title", type = "a text", doc = "Title above the figure." }
local xlabel_option = { name = "xlabel", type = "a text", doc = "Label of the x axis." }
local ylabel_option = { name = "ylabel", type = "a text", doc = "Label of the y axis." }
local values_option = { name = "values", type = "a tensor or a list",
  doc = "The numbers to count.", required = true,
  takes_lists = true }

plotting.plot = shell.define("plot -> a path, or nothing",
  "Draws lines of y over x at the terminal or into a file: cr.plot(y), cr.plot(x, y), cr.plot({ "
    .. "loss = a, val_loss = b }, { file = 'loss.svg' }). NaN leaves a gap.", {
    { name = "x", type = "a tensor or a list", required = true, takes_lists = true,
      takes_names = true,
      doc = "The x coordinates; if it is the only argument it is y, and x counts from 1." },
    { name = "y", type = "a tensor, a list or a table",
      doc = "Numbers; the columns of a matrix, a list of series or a table of series by name." },
    title_option, xlabel_option, ylabel_option,
    { name = "label", type = "a text",
      doc = "Name in the legend; a list of names for several series." },
    { name = "style", type = "a text", default = "line",
      doc = "\"line\", \"points\" or \"bars\"." },
    file_option, width_option, height_option,
  }, function(x, y, name, x_name, y_name, label, style, path, figure_width, figure_height)
    if y == nil then x, y = nil, x end
    local series = series_of(y, label)
    for _, item in ipairs(series) do
      item.style = style
      item.x = x ~= nil and values_of("plot", x) or nil
    end
    return show("plot", { kind = "axes", title = name, xlabel = x_name, ylabel = y_name,
      series = series, from = 1, whole = x == nil },
        { file = path, width = figure_width, height = figure_height })
  end)

plotting.hist = shell.define("hist -> a path, or nothing", "Draws a histogram of the values.", {
  values_option,
  { name = "bins", type = "an integer",
    doc = "Number of intervals; chosen by the number of values when not given." },
  title_option, xlabel_option, ylabel_option, file_option, width_option, height_option,
}, function(x, bins, name, x_name, y_name, path, figure_width, figure_height)
  local series = { y = values_of("hist", x), style = "histogram", bins = bins }
  return show("hist", { kind = "axes", title = name, xlabel = x_name, ylabel = y_name,
    series = { series } }, { file = path, width = figure_width, height = figure_height })
end)

--- Converts images to a batch of shape (count, height, width, channels).
local function batch_of(images)
  images = tensor_of("imshow", images)
  local shape = images.shape
  local channels = #shape > 0 and shape[#shape]
  local has_channels = channels == 1 or channels == 3 or channels == 4
  if #shape == 2 then return images:reshape { 1, shape[1], shape[2], 1 } end
  if #shape == 3 and has_channels then return images:reshape { 1, shape[1], shape[2], channels } end
  if #shape == 3 then return images:reshape { shape[1], shape[2], shape[3], 1 } end
  if #shape == 4 and has_channels then return images end
  shell.fail(
    "imshow: expected an image (height, width) or (height, width, 1, 3 or 4), or a batch, got ",
    images.dtype, "(", table.concat(shape, ", "), ")")
end

--- Scales the values so that the smallest finite value becomes 0 and the largest 1. Returns the
--- result and the smallest and the largest value.
local function scaled_to_unit_range(images)
  images = cr.ops.cast(images, "float32")
  local is_finite = cr.ops.isfinite(images)
  local minimum = cr.ops.min(cr.ops.where(is_finite, images, math.huge))
  local maximum = cr.ops.max(cr.ops.where(is_finite, images, -math.huge))
  return (images - minimum) / cr.ops.maximum(maximum - minimum, 1e-30),
    { minimum:item(), maximum:item() }
end

--- The pair of pixel values that mean black and white.
local function range_of(pixels) return pixels.dtype:find "int" and { 0, 255 } or { 0, 1 } end

plotting.imshow = shell.define("imshow -> a path, or nothing",
  "Draws an image (height, width) or (height, width, 1, 3 or 4), or a batch of images as a "
    .. "grid. Values are fractions from 0 to 1 or integers from 0 to 255.", {
    { name = "images", type = "a tensor", doc = "", required = true, takes_lists = true },
    title_option,
    { name = "labels", type = "a list of texts", doc = "Texts below the images." },
    { name = "columns", type = "an integer", doc = "Number of images per row." },
    { name = "scale", type = "a boolean", default = false,
      doc = "Scale the values so that the smallest is black and the largest white." },
    file_option, width_option, height_option,
    { name = "colorbar", type = "a boolean", default = false,
      doc = "Show a bar with the scale of the greys." },
  }, function(images, name, labels, columns, scale, path, figure_width, figure_height, colorbar)
    local pixels = batch_of(images)
    local range = range_of(pixels)
    if scale then pixels, range = scaled_to_unit_range(pixels) end
    local has_bar = colorbar and pixels.shape[4] == 1
    return show("imshow", { kind = "images", pixels = pixels, title = name, labels = labels,
      columns = columns, range = has_bar and range or nil },
      { file = path, width = figure_width, height = figure_height })
  end)

plotting.heatmap = shell.define("heatmap -> a path, or nothing",
  "Draws a matrix as a grid of coloured cells with their numbers, such as "
    .. "cr.utils.confusion_matrix or attention scores.", {
    { name = "values", type = "a matrix", doc = "", required = true, takes_lists = true },
    { name = "labels", type = "a list of texts", doc = "Names of rows and columns alike." },
    { name = "rows", type = "a list of texts", doc = "Names of the rows." },
    { name = "columns", type = "a list of texts", doc = "Names of the columns." },
    title_option, xlabel_option, ylabel_option,
    { name = "numbers", type = "a boolean",
      doc = "Write the numbers into the cells, if there is room." },
    file_option, width_option, height_option,
    { name = "colorbar", type = "a boolean",
      doc = "Show a bar with the scale of the colours; at the terminal only where the cells "
        .. "have no numbers." },
  }, function(matrix, labels, rows, columns, name, x_name, y_name, numbers, path,
    figure_width, figure_height,
      colorbar)
    return show("heatmap", { kind = "heatmap", values = tensor_of("heatmap", matrix),
      rows = rows or labels, columns = columns or labels, title = name, xlabel = x_name,
      ylabel = y_name, numbers = numbers, colorbar = colorbar },
      { file = path, width = figure_width, height = figure_height })
  end)

plotting.sparkline = shell.define("sparkline -> a string",
  "A line of text that shows a series of values as a small chart.", {
    values_option,
    { name = "width", type = "an integer",
      doc = "Width in characters; by default the number of values. Fewer characters show means "
        .. "of neighbouring values." },
  }, function(x, figure_width)
    return (call_named("sparkline", shell.draw, "text",
      { kind = "sparkline", values = values_of("sparkline", x) },
      { width = figure_width, unicode = true }):gsub("\n$", ""))
  end)

--- Returns the logs of a history and the list of the log names to draw, each once. Each name is
--- followed by that of the validation log ("val_loss" after "loss") if there is one.
local function logs_of(history, names)
  local logs, chosen_names, chosen_set = history.history, {}, {}
  local function choose(name)
    if not chosen_set[name] then chosen_names[#chosen_names + 1], chosen_set[name] = name, true end
  end
  if names and type(names) ~= "table" then names = { names } end
  for _, name in ipairs(names or sorted_names(logs)) do
    if not logs[name] then
      shell.fail("plot: the history has no log '", name, "'",
        shell.did_you_mean(name, sorted_names(logs)))
    end
    local is_pair = not names and name:find "^val_" and logs[name:sub(5)]
    if not is_pair then choose(name) end
    if logs["val_" .. name] then choose("val_" .. name) end
  end
  return logs, chosen_names
end

shell.methods["history.plot"] = function(history, o)
  local logs, names = logs_of(history, o.metrics)
  local series, color = {}, -1
  for i, name in ipairs(names) do
    local of_validation = name:find "^val_" and names[i - 1] == name:sub(5)
    color = of_validation and color or color + 1
    series[i] = { y = logs[name], label = name, color = color, dashed = of_validation or false }
  end
  return show("plot", { kind = "axes", title = o.title, xlabel = "epoch", ylabel = o.ylabel,
    whole = true, from = 1, series = series }, o)
end

shell.methods["model.plot"] = function(model, o)
  local graphs = shell.library "utils/graphs"
  if o.to_file then return graphs.plot(model, o.to_file, o) end
  return show("plot", graphs.figure_of(model, o), {})
end

return plotting
