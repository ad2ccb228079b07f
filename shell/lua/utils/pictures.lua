-- cr.utils.plot_model and model_to_dot.
local cr, shell = ...
local graphs = shell.library "utils/graphs"

local names = { "show_shapes", "show_dtype", "show_layer_names", "rankdir", "expand_nested", "dpi",
  "show_layer_activations", "show_trainable", "splines" }

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

return {
  model_to_dot = shell.define("model_to_dot -> a text",
    "The graph of a model as a text in Graphviz' language.", model_to_dot_rows(),
    function(model, ...)
      local given = { ... }
      local subgraph = table.remove(given, 7)
      return graphs.dot_of(model, gathered(table.unpack(given, 1, #names)), subgraph)
    end),
  plot_model = shell.define("plot_model -> a text",
    "Draws the graph of a model into a file (.svg, .png, .txt; .dot: for Graphviz, which also draws "
    .. "others); gives the path.",
    rows_with(false, { name = "to_file", type = "a text", default = "model.png",
      doc = "Path of the picture." }),
    function(model, to_file, ...) return graphs.plot(model, to_file, gathered(...)) end),
}
