-- cr.plot and other figures: how data is drawn, and in which kinds of files.
local cr = require "crescent"
local folder = arg[0]:match "(.*/)"
local check = dofile(folder .. "../support/check.lua")

local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "a"
  file:close()
  os.remove(path)
  return bytes
end

--- The content of the file with this ending that `draw(path)` writes.
local function drawn_file(ending, draw)
  local path = check.temporary(ending)
  assert(draw(path) == path)
  return read_file(path)
end

local function polyline_count(svg)
  local count = 0
  for width in svg:gmatch '<polyline[^>]- stroke%-width="([%d.]+)"' do
    if width == "1.8" then count = count + 1 end
  end
  return count
end

local function svg_of_plot(...)
  local arguments = table.pack(...)
  return drawn_file(".svg", function(path)
    local options = arguments[arguments.n]
    options.file = path
    return cr.plot(table.unpack(arguments, 1, arguments.n))
  end)
end

-- ---- data that is accepted as a series
local x, y = cr.ops.linspace(0, 1, 20), cr.random.normal { 20 }
assert(polyline_count(svg_of_plot(y, {})) == 1)
assert(polyline_count(svg_of_plot(x, y, {})) == 1)
assert(polyline_count(svg_of_plot({ 1, 2, 3 }, {})) == 1)
assert(polyline_count(svg_of_plot({ 1, 2, 3 }, { 3, 2, 1 }, {})) == 1)
assert(polyline_count(svg_of_plot({ { 1, 2, 3 }, { 3, 2, 1 } }, { label = { "a", "b" } })) == 2)
assert(polyline_count(svg_of_plot({ y, y * 2, x }, {})) == 3)
assert(polyline_count(svg_of_plot(x, cr.random.normal { 20, 4 }, {})) == 4)
local svg = svg_of_plot({ loss = y, val_loss = x }, { title = "a & b", xlabel = "epoch" })
assert(polyline_count(svg) == 2)
for _, text in ipairs { ">loss<", ">val_loss<", ">a &amp; b<", ">epoch<" } do
  assert(svg:find(text, 1, true), text)
end

-- ---- the legend of a text figure shows the characters of the curves
local legend_text = drawn_file(".txt", function(path)
  return cr.plot({ a = { 1, 2 }, b = { 2, 1 }, val_a = { 3, 3 } }, { file = path, width = 60 })
end)
assert(legend_text:find("** a", 1, true) or not legend_text:find("*", 1, true), legend_text)
for _, entry in ipairs { "++ b", "oo val_a" } do
  assert(legend_text:find(entry, 1, true) or legend_text:find("⠤⠤ " .. entry:sub(4), 1, true),
    legend_text)
end

-- ---- every dtype, and extreme sizes
for _, dtype in ipairs { "float32", "float64", "bfloat16", "float16", "int8", "int16", "int32",
  "int64", "uint8", "bool" } do
  assert(polyline_count(svg_of_plot(cr.ops.cast(cr.tensor { 0, 1, 1, 0 }, dtype), {})) == 1, dtype)
end
local nan, inf = 0 / 0, 1 / 0
assert(polyline_count(svg_of_plot({ 1, 2, nan, 3, 4, inf, 5, 6 }, {})) == 3)
for _, values in ipairs { {}, { 1 }, { 2, 2, 2 }, { nan }, { 1e300, -1e300 }, { 1e-300, 2e-300 },
  { 1e15, 1e15 + 1 }, { -5 } } do
  assert(svg_of_plot(values, {}):find "</svg>")
  assert(#cr.sparkline(values) >= 0)
  drawn_file(".txt", function(path) return cr.hist(values, { file = path }) end)
  drawn_file(".png", function(path) return cr.plot(values, { file = path, style = "bars" }) end)
end
for _, values in ipairs { {}, { nan, inf } } do
  local text = drawn_file(".txt", function(path) return cr.hist(values, { file = path }) end)
  assert(text:find("no finite numbers", 1, true), text)
end
local start_time = os.clock()
assert(#svg_of_plot(cr.random.normal { 1000000 }, {}) < 200000)
assert(os.clock() - start_time < 10)

-- ---- the kind of a file follows from its ending; picture files can be read as images
local text = drawn_file(".txt", function(path)
  return cr.plot({ 1, 2, 3 }, { file = path, width = 30, height = 8 })
end)
local line_count = 0
for line in text:gmatch "[^\n]*\n" do
  line_count = line_count + 1
  assert(utf8.len(line) <= 31)
end
assert(line_count == 8)
local path = check.temporary ".png"
cr.plot({ 1, 2, 3 }, { file = path, width = 300, height = 200 })
local image = cr.utils.load_img(path)
check.same({ table.unpack(image.shape) }, { 200, 300, 3 })
assert(cr.ops.min(image):item() < 60 and cr.ops.max(image):item() == 255)
os.remove(path)
check.fails(function() cr.plot({ 1 }, { file = "curve.pdf" }) end, "'curve.pdf'", ".png", ".svg")
check.fails(function() cr.plot({ 1 }, { file = "/nowhere/curve.svg" }) end, "/nowhere")
check.fails(function() cr.plot({ 1, 2 }, { 1, 2, 3 }) end, "as many x as y")
check.fails(function() cr.plot({ 1 }, { style = "dots", file = "a.svg" }) end, "style")
check.fails(function() cr.plot({ 1 }, { titel = "a" }) end, "did you mean 'title'")
check.fails(function() cr.plot(cr.tensor { "a" }, { file = "a.svg" }) end, "real numbers")
check.fails(function() cr.plot() end, "'x'")
check.fails(function() cr.plot(1) end, "expected a tensor, a list", "got 1")

-- ---- error messages begin with the name of the function that was called
local function expect_error(text, ...)
  local ok, message = pcall(...)
  assert(not ok and message:find(text, 1, true) and not message:find "draw:", message)
end
expect_error("heatmap: ", cr.heatmap, { 1, 2 })
expect_error("heatmap: ", cr.heatmap, { { 1 } }, { width = -1 })
expect_error("heatmap: ", cr.heatmap, { { 1 } }, { file = "a.pdf" })
expect_error("imshow: ", cr.imshow, { { 1 } }, { height = -1, file = check.temporary ".png" })
expect_error("imshow: ", cr.imshow, cr.zeros { 2, 2, 2, 2, 2 })
expect_error("hist: ", cr.hist, { 1 }, { bins = 0 })
expect_error("plot: ", cr.plot, { 1 }, { style = "dots" })
expect_error("sparkline: ", cr.sparkline, { 1 }, { width = -1 })

-- ---- there must be as many labels as series
expect_error("plot: label: expected 2 texts, got 1", cr.plot, { { 1, 2 }, { 3, 4 } },
  { label = "a" })
expect_error("plot: label: expected 1 texts, got 2", cr.plot, { 1, 2 }, { label = { "a", "b" } })
expect_error("plot: label: expected 0 texts, got 1", cr.plot, { a = { 1, 2 } }, { label = { "b" } })
expect_error("heatmap: columns: expected 1 texts, got 2", cr.heatmap, { { 1 }, { 2 } },
  { labels = { "a", "b" } })
expect_error("imshow: labels: expected 2 texts, got 1", cr.imshow, cr.zeros { 2, 3, 5 },
  { labels = { "a" } })

-- ---- histograms are drawn as bars
text = drawn_file(".svg", function(file)
  return cr.hist(cr.random.normal { 500 }, { bins = 7, file = file })
end)
local bar_count = 0
for _ in text:gmatch '<rect[^>]-stroke="#ffffff"' do bar_count = bar_count + 1 end
assert(bar_count == 7)

-- ---- images of numbers and of colours are drawn as pictures
local function draw_image(images, options)
  options.file = check.temporary ".png"
  assert(cr.imshow(images, options) == options.file)
  local picture = cr.utils.load_img(options.file)
  os.remove(options.file)
  return picture
end
local colors = cr.tensor { { { 255, 0, 0 }, { 0, 255, 0 } }, { { 0, 0, 255 }, { 9, 9, 9 } } }
for _, dtype in ipairs { "uint8", "int32" } do
  local picture = draw_image(cr.ops.cast(colors, dtype), { width = 4 })
  check.same({ table.unpack(picture.shape) }, { 4, 4, 3 })
  check.near(picture:slice({ 1, 1 }, { 1, 1 }), { { { 255, 0, 0 } } })
  check.near(picture:slice({ 4, 4 }, { 4, 4 }), { { { 9, 9, 9 } } })
end
check.near(draw_image(cr.tensor { { 0.0, 1.0 }, { 0.5, 2.0 } }, { width = 2 }):reshape { 2, 2, 3 },
  { { { 0, 0, 0 }, { 255, 255, 255 } }, { { 128, 128, 128 }, { 255, 255, 255 } } })
check.near(draw_image(cr.tensor { { -1.0, 1.0 } }, { width = 2, scale = true }),
  { { { 0, 0, 0 }, { 255, 255, 255 } } })
check.near(
  draw_image(cr.tensor { { { 255, 0, 0, 0 }, { 255, 0, 0, 255 } } }:cast "uint8", { width = 2 }),
  { { { 255, 255, 255 }, { 255, 0, 0 } } })
check.same({ table.unpack(draw_image(cr.zeros { 6, 8, 8, 1 }, { columns = 3, width = 40 }).shape) },
  { 24, 40, 3 })
check.fails(function() cr.imshow(cr.zeros { 2 }, { file = "a.png" }) end, "expected an image")

-- ---- labels of a colour bar: the least and greatest value, fractions, or bytes
local function color_bar_labels(images, options)
  options.colorbar = true
  return drawn_file(".svg", function(path)
    options.file = path
    return cr.imshow(images, options)
  end)
end
assert(color_bar_labels(cr.tensor { { -3.0, 5.0 } },
  { scale = true }):find ">%-2</text>.*>4</text>")
assert(color_bar_labels(cr.tensor { { 0.0, 1.0 } }, {}):find ">0.0</text>.*>1.0</text>")
assert(color_bar_labels(cr.tensor({ { 0, 9 } }, "uint8"), {}):find ">200</text>")
assert(not color_bar_labels(cr.zeros { 2, 2, 3 }, {}):find "<text")

-- ---- confusion matrices are drawn with their numbers
local matrix = cr.utils.confusion_matrix({ 0, 1, 2, 1 }, { 0, 2, 2, 1 })
check.near(matrix, { { 1, 0, 0 }, { 0, 1, 1 }, { 0, 0, 1 } })
assert(matrix.dtype == "int32")
check.near(cr.utils.confusion_matrix({ 1, 0 }, cr.tensor { { 0.1, 0.9 }, { 0.2, 0.8 } }, 3),
  { { 0, 1, 0 }, { 0, 1, 0 }, { 0, 0, 0 } })
text = drawn_file(".svg", function(file)
  return cr.heatmap(matrix, { labels = { "cat", "dog", "cow" }, xlabel = "predicted", file = file })
end)
for _, name in ipairs { "cat", "dog", "cow", "predicted" } do
  assert(text:find(">" .. name .. "<", 1, true))
end
local number_count = 0
for _ in text:gmatch ">[01]</text>" do number_count = number_count + 1 end
assert(number_count == 9)

-- ---- sparklines are one line of block characters
assert(cr.sparkline { 0, 1, 2, 3, 4, 5, 6, 7 } == "▁▂▃▄▅▆▇█")
assert(cr.sparkline { 0, nan, 7 } == "▁ █")
assert(cr.sparkline(cr.tensor { 7, 0 }) == "█▁")
assert(cr.sparkline({ 0, 0, 7, 7 }, { width = 2 }) == "▁█")

-- ---- history:plot draws the losses and metrics of a training
local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
model:compile { optimizer = "sgd", loss = "mse", metrics = { "mae" } }
local history = model:fit(cr.random.normal { 20, 3 }, cr.random.normal { 20, 1 },
  { epochs = 3, validation_split = 0.5, verbose = 0 })
local function draw_history(options)
  return drawn_file(".svg", function(file)
    options.file = file
    return history:plot(options)
  end)
end
assert(polyline_count(draw_history {}) == 4)
assert(polyline_count(draw_history { "loss" }) == 2)
assert(polyline_count(draw_history { metrics = { "mae", "loss" } }) == 4)
assert(polyline_count(draw_history { "loss", "val_loss" }) == 2)
assert(polyline_count(draw_history { "val_loss" }) == 1)
assert(polyline_count(draw_history { "val_loss", "loss", "mae", "loss" }) == 4)
local svg_of_both = draw_history { "loss", "mae", title = "of both" }
assert(polyline_count(svg_of_both) == 4 and svg_of_both:find ">mae<"
  and svg_of_both:find ">of both<")
assert(draw_history({}):find("stroke-dasharray", 1, true))
check.fails(function() history:plot { "los" } end, "did you mean 'loss'")

-- ---- graphs of models: each layer is a box, each edge a line, and a nested model a frame
local inner_input, input = cr.Input { shape = { 8 } }, cr.Input { shape = { 8 } }
local inner_model = cr.Model { inputs = inner_input, name = "block",
  outputs = cr.layers.Add() { cr.layers.Dense(8, { name = "within" })(inner_input), inner_input } }
local head = cr.Sequential({ cr.layers.Dense(8, { input_shape = { 8 }, name = "first" }) },
  { name = "head" })
local graph = cr.Model { inputs = input, outputs = head(inner_model(input)) }
local function arrow_count(picture) return select(2, picture:gsub("<polygon", "")) end
local function svg_of_graph(options)
  return drawn_file(".svg", function(file) return graph:plot(file, options) end)
end
text = svg_of_graph {}
assert(arrow_count(text) == 2 and text:find(">block (", 1, true) and not text:find ">within")
text = svg_of_graph { expand_nested = true, show_shapes = true }
assert(arrow_count(text) == 5 and text:find ">block<" and text:find ">head<"
  and text:find ">within %(")
assert(text:find ">Output shape: %(None, 8%)<")
for _, rankdir in ipairs { "TB", "BT", "LR", "RL" } do
  assert(arrow_count(svg_of_graph { expand_nested = true, rankdir = rankdir }) == 5)
end
text = drawn_file(".txt", function(file) return graph:plot(file, { expand_nested = true }) end)
assert(select(2, text:gsub("▼", "")) == 5)
check.fails(function() graph:plot("a.svg", { rankdir = "XY" }) end, "rankdir")

-- ---- without a file the figure is printed, with colours only on a terminal
local ok, output = check.run("cr.plot({ 1, 2, 3 }, { title = 'rising' })",
  "LC_ALL=C.UTF-8 TERM=xterm")
assert(ok and output:find "rising" and output:find "⠤" and not output:find "\27")
ok, output = check.run("cr.plot { 1, 2, 3 }", "LC_ALL=C.UTF-8 TERM=dumb")
assert(ok and not output:find "[\x80-\xff]")
ok, output = check.run("cr.plot { 1, 2, 3 }", "LC_ALL=C TERM=xterm")
assert(ok and not output:find "[\x80-\xff]")
