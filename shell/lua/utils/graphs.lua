-- Graphs of models, as figures and as source text for Graphviz.
local cr, shell = ...

local function escaped(text)
  return (tostring(text):gsub("[&<>\"]",
    { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }))
end

local function quoted(text) return '"' .. text:gsub('[\\"]', "\\%0") .. '"' end

local function is_model(layer)
  local description = cr.describe(layer)
  return description ~= nil and description.what == "model"
end

-- ---- the graph of a model

local function layer_of(symbol) return symbol.node.outbound_layer end

local function is_operation(layer) return layer.class_name == "OperationLayer" end

-- The output symbols of a model; an empty list for a model without symbols.
local function outputs_of(model)
  local ok, outputs = pcall(function() return model.outputs end)
  return ok and outputs or {}
end

-- Calls visit(symbol) once for each call of a layer or an operation in the graph of a model, after
-- the calls on whose results it depends.
local function visit_calls(model, visit)
  local visited_calls = {}
  local function visit_symbol(symbol)
    local key = layer_of(symbol).name .. "\0" .. symbol.node.index
    if visited_calls[key] then return end
    visited_calls[key] = true
    for _, input in ipairs(symbol.node.input_tensors or {}) do visit_symbol(input) end
    visit(symbol)
  end
  for _, output in ipairs(outputs_of(model)) do visit_symbol(output) end
end

-- The layers of a model, followed by the operations in its graph.
local function layers_of(model)
  local layers, listed_names = table.move(model.layers, 1, #model.layers, 1, {}), {}
  visit_calls(model, function(symbol)
    local layer = layer_of(symbol)
    if not is_operation(layer) or listed_names[layer.name] then return end
    layers[#layers + 1], listed_names[layer.name] = layer, true
  end)
  return layers
end

-- The edges between layers as distinct pairs {from, to} of layer names. In a model without symbols,
-- each layer is connected to the next one.
local function edges_of(model)
  local edges, seen_edges = {}, {}
  local function add(from, to)
    local key = from .. "\0" .. to
    if not seen_edges[key] then edges[#edges + 1] = { from, to } end
    seen_edges[key] = true
  end
  if #outputs_of(model) == 0 then
    for i = 2, #model.layers do add(model.layers[i - 1].name, model.layers[i].name) end
  end
  visit_calls(model, function(symbol)
    for _, input in ipairs(symbol.node.input_tensors or {}) do
      add(layer_of(input).name, layer_of(symbol).name)
    end
  end)
  return edges
end

-- The names of the first or the last layers of a nested model: for "inputs" those that receive
-- tensors of the outer model, for "outputs" those that return tensors to it.
local function ends_of(model, which)
  local layers, listed_names, names = layers_of(model), {}, {}
  for _, layer in ipairs(layers) do listed_names[layer.name] = true end
  local ok, symbols = pcall(function() return model[which] end)
  for i, symbol in ipairs(ok and symbols or {}) do
    local name = layer_of(symbol).name
    -- The InputLayer of a Sequential is not in its list of layers; the first layer takes its place.
    names[i] = listed_names[name] and name or layers[1].name
  end
  return #names > 0 and names or { layers[which == "inputs" and 1 or #layers].name }
end

-- ---- a layer

local function shape_text(layer, which)
  local ok, shape = pcall(function() return layer[which] end)
  if not ok or shape == nil then return "?" end
  local function text_of_shape(sizes)
    local parts = {}
    for i, size in ipairs(sizes) do parts[i] = size == -1 and "None" or tostring(size) end
    return "(" .. table.concat(parts, ", ") .. (#parts == 1 and ",)" or ")")
  end
  if type(shape[1]) ~= "table" then return text_of_shape(shape) end
  local parts = {}
  for i, sizes in ipairs(shape) do parts[i] = text_of_shape(sizes) end
  return table.concat(parts, ", ")
end

local function activation_of(layer)
  local ok, config = pcall(function() return layer:get_config() end)
  local activation = ok and config.activation
  if type(activation) == "table" then activation = activation.class_name end
  return activation
end

--- The rows of the box of a layer: the name, then pairs of a label and a text.
local function rows_of(layer, o)
  local rows = {}
  local function add_row(label, text) rows[#rows + 1] = { label, tostring(text) } end
  local activation = o.show_layer_activations and activation_of(layer)
  if activation then add_row("Activation", activation) end
  if o.show_shapes then
    if layer.class_name ~= "InputLayer" then
      add_row("Input shape", shape_text(layer, "input_shape"))
    end
    add_row("Output shape", shape_text(layer, "output_shape"))
  end
  if o.show_dtype then add_row("Output dtype", layer.compute_dtype or layer.dtype) end
  if o.show_trainable and #layer.weights > 0 then add_row("Trainable", layer.trainable) end
  return rows
end

-- The name of the class of a layer, or of the function of an operation.
local function class_text(layer)
  return is_operation(layer) and layer.operation or layer.class_name
end

local function cells_of(layer, o)
  local title = "<b>" .. escaped(class_text(layer)) .. "</b>"
  if o.show_layer_names then
    title = "<b>" .. escaped(layer.name) .. "</b> (" .. escaped(class_text(layer)) .. ")"
  end
  local cells = { title }
  for _, row in ipairs(rows_of(layer, o)) do
    cells[#cells + 1] = row[1] .. ": <b>" .. escaped(row[2]) .. "</b>"
  end
  return cells
end

local function label_of(layer, o)
  local rows = {}
  for i, cell in ipairs(cells_of(layer, o)) do rows[i] = "<tr><td>" .. cell .. "</td></tr>" end
  return '<<table border="0" cellborder="1" cellspacing="0" cellpadding="8">' .. table.concat(rows)
    .. "</table>>"
end

-- ---- source text for Graphviz

-- Those layers of a model that are nested models and are drawn expanded, by name.
local function expanded_in(model, o)
  local nested_models = {}
  for _, layer in ipairs(model.layers) do
    if o.expand_nested and is_model(layer) then nested_models[layer.name] = layer end
  end
  return nested_models
end

-- The paths of the boxes for a layer: one, or for an expanded nested model those of its first or
-- last layers, as `which` says: "inputs" or "outputs".
local function paths_of_ends(name, which, nested_models, prefix, o)
  local model, paths = nested_models[name], {}
  if not model then return { prefix .. name } end
  local inner_nested = expanded_in(model, o)
  for _, end_name in ipairs(ends_of(model, which)) do
    for _, path in ipairs(paths_of_ends(end_name, which, inner_nested, prefix .. name .. "/", o)) do
      paths[#paths + 1] = path
    end
  end
  return paths
end

-- The edges of a model as pairs of paths; a path is "outer/inner/layer", from the outermost model
-- on.
local function paths_of_edges(model, nested_models, prefix, o)
  local edges = {}
  for _, edge in ipairs(edges_of(model)) do
    for _, from in ipairs(paths_of_ends(edge[1], "outputs", nested_models, prefix, o)) do
      for _, to in ipairs(paths_of_ends(edge[2], "inputs", nested_models, prefix, o)) do
        edges[#edges + 1] = { from, to }
      end
    end
  end
  return edges
end

-- The Graphviz lines for the layers of a model and the edges between them; names of nested layers
-- begin with the names of the models around them.
local function body_of(model, o, prefix, lines)
  local nested_models = expanded_in(model, o)
  for _, layer in ipairs(layers_of(model)) do
    local name = prefix .. layer.name
    if nested_models[layer.name] then
      lines[#lines + 1] = string.format("subgraph %s { style=dashed; label=%s;",
        quoted("cluster_" .. name), quoted(layer.name))
      body_of(layer, o, name .. "/", lines)
      lines[#lines + 1] = "}"
    else
      lines[#lines + 1] = string.format("%s [label=%s];", quoted(name), label_of(layer, o))
    end
  end
  for _, edge in ipairs(paths_of_edges(model, nested_models, prefix, o)) do
    lines[#lines + 1] = quoted(edge[1]) .. " -> " .. quoted(edge[2]) .. ";"
  end
  return lines
end

-- ---- figures

local function lines_of(layer, o)
  local title = o.show_layer_names and layer.name .. " (" .. class_text(layer) .. ")"
    or class_text(layer)
  local lines = { title }
  for _, row in ipairs(rows_of(layer, o)) do lines[#lines + 1] = row[1] .. ": " .. row[2] end
  return lines
end

-- Adds the layers and edges of a model to the figure; `numbers` maps the path of a layer to the
-- number of its node.
local function add_model_to_figure(model, o, prefix, group, figure, numbers)
  local nested_models = expanded_in(model, o)
  for _, layer in ipairs(layers_of(model)) do
    local path = prefix .. layer.name
    if nested_models[layer.name] then
      figure.groups[#figure.groups + 1] = { label = layer.name, parent = group }
      add_model_to_figure(layer, o, path .. "/", #figure.groups - 1, figure, numbers)
    else
      numbers[path] = #figure.nodes
      figure.nodes[#figure.nodes + 1] = { lines = lines_of(layer, o), group = group }
    end
  end
  for _, edge in ipairs(paths_of_edges(model, nested_models, prefix, o)) do
    local from, to = numbers[edge[1]], numbers[edge[2]]
    if from and to then figure.edges[#figure.edges + 1] = { from, to } end
  end
end

local function figure_of(model, o)
  local figure = { kind = "graph", nodes = {}, edges = {}, groups = {}, direction = o.rankdir }
  add_model_to_figure(model, o, "", nil, figure, {})
  return figure
end

local directions = { TB = true, LR = true, BT = true, RL = true }

local function check(caller, model, o)
  if not is_model(model) then shell.fail(caller, ": expected a model, got ", cr.show(model)) end
  if not directions[o.rankdir] then
    shell.fail(caller, ": rankdir must be TB, LR, BT or RL, got ", cr.show(o.rankdir))
  end
end

local function dot_of(model, o, subgraph)
  check("model_to_dot", model, o)
  local lines = body_of(model, o, "", {})
  local first_line = subgraph and "subgraph " .. quoted("cluster_" .. model.name) .. " {"
    or "digraph " .. quoted(model.name) .. " {"
  local graph_line = string.format("graph [rankdir=%s, dpi=%d, splines=%s, concentrate=true];",
    o.rankdir, o.dpi, quoted(o.splines))
  return table.concat({ first_line, graph_line, 'node [shape=plain, fontname="Helvetica"];',
    table.concat(lines, "\n"), "}\n" }, "\n")
end

local built_in_endings = { svg = true, png = true, txt = true }

local function write(path, text)
  local file, reason = io.open(path, "w")
  if not file then shell.fail("plot_model: ", reason) end
  file:write(text)
  file:close()
end

-- Runs Graphviz for the kinds of picture files that Crescent cannot write itself.
local function draw_by_graphviz(text, path, ending)
  if not os.execute "command -v dot > /dev/null 2>&1" then
    shell.fail("plot_model: '", path, "': expected a name that ends in .svg, .png, .txt or .dot; ",
      "others need the program 'dot' of Graphviz, which is not installed")
  end
  local dot_path = os.tmpname()
  write(dot_path, text)
  local command = string.format("dot -T%s -o '%s' '%s'", ending, path:gsub("'", "'\\''"), dot_path)
  local succeeded = os.execute(command)
  os.remove(dot_path)
  if not succeeded then shell.fail("plot_model: '", path, "' could not be drawn by: ", command) end
end

local function plot(model, path, o)
  check("plot_model", model, o)
  local ending = path:match "%.(%w+)$"
  if not ending then
    shell.fail("plot_model: '", path, "' has no ending such as .png that says what to draw")
  elseif built_in_endings[ending] then
    local scale = ending == "png" and math.min(o.dpi / 100, 16) or nil
    shell.library("figures").show("plot_model", figure_of(model, o),
      { file = path, scale = scale })
  elseif ending == "dot" then
    write(path, dot_of(model, o))
  else
    draw_by_graphviz(dot_of(model, o), path, ending)
  end
  return path
end

return { dot_of = dot_of, figure_of = figure_of, plot = plot, check = check }
