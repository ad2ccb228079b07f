-- Graphs of models as texts for Graphviz, and as images drawn by it.
local cr, shell = ...

local function escaped(text)
  return (tostring(text):gsub("[&<>\"]",
    { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }))
end

local function quoted(text) return '"' .. text:gsub('[\\"]', "\\%0") .. '"' end

local function is_model(layer)
  local what = cr.describe(layer)
  return what ~= nil and what.what == "model"
end

-- ---- the graph of a model

local function layer_of(symbol) return symbol.node.outbound_layer end

-- The edges between layers: distinct pairs {from, to} of names. A model without symbols is a chain.
local function edges_of(model)
  local edges, seen = {}, {}
  local function add(from, to)
    local key = from .. "\0" .. to
    if not seen[key] then edges[#edges + 1] = { from, to } end
    seen[key] = true
  end
  local ok, outputs = pcall(function() return model.outputs end)
  if not ok or not outputs or #outputs == 0 then
    for i = 2, #model.layers do add(model.layers[i - 1].name, model.layers[i].name) end
    return edges
  end
  local visited = {}
  local function follow(symbol)
    local node = symbol.node
    local key = layer_of(symbol).name .. "\0" .. node.index
    if visited[key] then return end
    visited[key] = true
    for _, input in ipairs(node.input_tensors or {}) do
      follow(input)
      add(layer_of(input).name, layer_of(symbol).name)
    end
  end
  for _, output in ipairs(outputs) do follow(output) end
  return edges
end

-- The names of the layers of a nested model that are its ends: those that get, or give, tensors of
-- the outer model.
local function ends_of(model, which)
  local ok, symbols = pcall(function() return model[which] end)
  if ok and symbols and #symbols > 0 then
    local names = {}
    for i, symbol in ipairs(symbols) do names[i] = layer_of(symbol).name end
    return names
  end
  local layers = model.layers
  return { layers[which == "inputs" and 1 or #layers].name }
end

-- ---- a layer

local function shape_text(layer, which)
  local ok, shape = pcall(function() return layer[which] end)
  if not ok or shape == nil then return "?" end
  local function one(sizes)
    local parts = {}
    for i, size in ipairs(sizes) do parts[i] = size == -1 and "None" or tostring(size) end
    return "(" .. table.concat(parts, ", ") .. (#parts == 1 and ",)" or ")")
  end
  if type(shape[1]) ~= "table" then return one(shape) end
  local parts = {}
  for i, each in ipairs(shape) do parts[i] = one(each) end
  return table.concat(parts, ", ")
end

local function activation_of(layer)
  local ok, config = pcall(function() return layer:get_config() end)
  local activation = ok and config.activation
  if type(activation) == "table" then activation = activation.class_name end
  return activation
end

local function cells_of(layer, o)
  local title = "<b>" .. escaped(layer.class_name) .. "</b>"
  if o.show_layer_names then
    title = "<b>" .. escaped(layer.name) .. "</b> (" .. escaped(layer.class_name) .. ")"
  end
  local rows = { title }
  local function row(label, text) rows[#rows + 1] = label .. ": <b>" .. escaped(text) .. "</b>" end
  local activation = o.show_layer_activations and activation_of(layer)
  if activation then row("Activation", activation) end
  if o.show_shapes then
    if layer.class_name ~= "InputLayer" then
      row("Input shape", shape_text(layer, "input_shape"))
    end
    row("Output shape", shape_text(layer, "output_shape"))
  end
  if o.show_dtype then row("Output dtype", layer.compute_dtype or layer.dtype) end
  if o.show_trainable and #layer.weights > 0 then row("Trainable", layer.trainable) end
  return rows
end

local function label_of(layer, o)
  local rows = {}
  for i, cell in ipairs(cells_of(layer, o)) do rows[i] = "<tr><td>" .. cell .. "</td></tr>" end
  return '<<table border="0" cellborder="1" cellspacing="0" cellpadding="8">' .. table.concat(rows)
    .. "</table>>"
end

-- ---- the text

-- The lines for the layers of a model and the edges between them; names of nested layers begin with
-- those of the outer ones.
local function body_of(model, o, prefix, lines)
  local nested = {}
  for _, layer in ipairs(model.layers) do
    local name = prefix .. layer.name
    if o.expand_nested and is_model(layer) then
      nested[layer.name] = layer
      lines[#lines + 1] = string.format("subgraph %s { style=dashed; label=%s;",
        quoted("cluster_" .. name), quoted(layer.name))
      body_of(layer, o, name .. "/", lines)
      lines[#lines + 1] = "}"
    else
      lines[#lines + 1] = string.format("%s [label=%s];", quoted(name), label_of(layer, o))
    end
  end
  local function ends(name, which)
    if not nested[name] then return { prefix .. name } end
    local names = ends_of(nested[name], which)
    for i, inner in ipairs(names) do names[i] = prefix .. name .. "/" .. inner end
    return names
  end
  for _, edge in ipairs(edges_of(model)) do
    for _, from in ipairs(ends(edge[1], "outputs")) do
      for _, to in ipairs(ends(edge[2], "inputs")) do
        lines[#lines + 1] = quoted(from) .. " -> " .. quoted(to) .. ";"
      end
    end
  end
  return lines
end

local names = { "show_shapes", "show_dtype", "show_layer_names", "rankdir", "expand_nested", "dpi",
  "show_layer_activations", "show_trainable", "splines" }
local directions = { TB = true, LR = true, BT = true, RL = true }

local function dot_of(model, o, subgraph)
  if not is_model(model) then shell.fail("model_to_dot: expected a model, got ", cr.show(model)) end
  if not directions[o.rankdir] then
    shell.fail("model_to_dot: rankdir must be TB, LR, BT or RL, got ", cr.show(o.rankdir))
  end
  local lines = body_of(model, o, "", {})
  local head = subgraph and "subgraph " .. quoted("cluster_" .. model.name) .. " {"
    or "digraph " .. quoted(model.name) .. " {"
  local graph = string.format("graph [rankdir=%s, dpi=%d, splines=%s, concentrate=true];",
    o.rankdir, o.dpi, quoted(o.splines))
  return table.concat({ head, graph, 'node [shape=plain, fontname="Helvetica"];',
    table.concat(lines, "\n"), "}\n" }, "\n")
end

local options = {
  show_shapes = { "a boolean", false, "Whether shapes are shown." },
  show_dtype = { "a boolean", false, "Whether dtypes are shown." },
  rankdir = { "a text", "TB", "From top to bottom; LR: from left to right." },
  expand_nested = { "a boolean", false, "Whether the layers of inner models are shown." },
  dpi = { "an integer", 200, "Points an inch." },
  show_layer_activations = { "a boolean", false, "Whether activations are shown." },
  show_trainable = { "a boolean", false, "Whether it is shown what is trained." },
  splines = { "a text", "ortho", "How lines are drawn, as Graphviz names it." },
}

-- The parameters of a function: the model, its own ones, then the common options.
local function rows_with(show_layer_names, first)
  local rows = { { name = "model", type = "a model", doc = "", required = true }, first }
  for _, name in ipairs(names) do
    local option = options[name] or { "a boolean", show_layer_names, "Whether names are shown." }
    rows[#rows + 1] = { name = name, type = option[1], default = option[2], doc = option[3] }
  end
  return rows
end

local function gathered(...)
  local o = {}
  for i, name in ipairs(names) do o[name] = (select(i, ...)) end
  return o
end

local function model_to_dot_rows()
  local rows = rows_with(true)
  table.insert(rows, 8, { name = "subgraph", type = "a boolean", default = false,
    doc = "Whether it is to be part of another graph." })
  return rows
end

local function drawn(text, path)
  local ending = path:match "%.(%w+)$"
  if not ending then
    shell.fail("plot_model: '", path, "' has no ending such as .png that says what to draw")
  end
  local source = ending == "dot" and path or os.tmpname()
  local file, why = io.open(source, "w")
  if not file then shell.fail("plot_model: ", why) end
  file:write(text)
  file:close()
  if ending == "dot" then return path end
  local command = string.format("dot -T%s -o '%s' '%s'", ending, path:gsub("'", "'\\''"), source)
  local is_there = os.execute "command -v dot > /dev/null 2>&1"
  local done = is_there and os.execute(command)
  os.remove(source)
  if not is_there then
    shell.fail(
      "plot_model: the program 'dot' of Graphviz is not installed; to_file = 'model.dot' writes the graph as a text")
  end
  if not done then shell.fail("plot_model: '", path, "' could not be drawn by: ", command) end
  return path
end

return {
  model_to_dot = shell.define("model_to_dot -> a text",
    "The graph of a model as a text in Graphviz' language.", model_to_dot_rows(),
    function(model, ...)
      local given = { ... }
      local subgraph = table.remove(given, 7)
      return dot_of(model, gathered(table.unpack(given, 1, #names)), subgraph)
    end),
  plot_model = shell.define("plot_model -> a text",
    "Draws the graph of a model into a file (.png, .svg, .pdf; .dot: its text); gives the path.",
    rows_with(false, { name = "to_file", type = "a text", default = "model.png",
      doc = "Path of the picture." }),
    function(model, to_file, ...) return drawn(dot_of(model, gathered(...)), to_file) end),
}
