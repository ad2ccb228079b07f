-- cr.utils.plot_model and model_to_dot.
local cr, shell = ...
local graphs = shell.library "utils/graphs"

local option_names = { "show_shapes", "show_dtype", "show_layer_names", "rankdir",
  "expand_nested", "dpi", "show_layer_activations", "show_trainable", "splines" }

local options = {
  show_shapes = { "a boolean", false, "Show the shapes of the outputs." },
  show_dtype = { "a boolean", false, "Show the dtypes of the outputs." },
  rankdir = { "a text", "TB", "Direction: \"TB\" (top to bottom) or \"LR\" (left to right)." },
  expand_nested = { "a boolean", false, "Show the layers of nested models." },
  dpi = { "an integer", 200, "Resolution in dots per inch." },
  show_layer_activations = { "a boolean", false, "Show the activation functions of the layers." },
  show_trainable = { "a boolean", false, "Show which layers are trainable." },
  splines = { "a text", "ortho", "Style of the edges, as in Graphviz." },
}

-- The parameters of a function: the model, the parameter of this function only (`own_parameter`),
-- then the common options.
local function parameters_with(show_layer_names, own_parameter)
  local parameters = { { name = "model", type = "a model", doc = "", required = true },
    own_parameter }
  for _, name in ipairs(option_names) do
    local option = options[name] or { "a boolean", show_layer_names, "Show the names of the "
      .. "layers." }
    parameters[#parameters + 1] = { name = name, type = option[1], default = option[2],
      doc = option[3] }
  end
  return parameters
end

local function options_from(...)
  local o = {}
  for i, name in ipairs(option_names) do o[name] = (select(i, ...)) end
  return o
end

local function model_to_dot_parameters()
  local parameters = parameters_with(true)
  table.insert(parameters, 8, { name = "subgraph", type = "a boolean", default = false,
    doc = "Make a subgraph for use in another graph." })
  return parameters
end

return {
  model_to_dot = shell.define("model_to_dot -> a text",
    "The graph of a model in the language of Graphviz.", model_to_dot_parameters(),
    function(model, ...)
      local values = { ... }
      local subgraph = table.remove(values, 7)
      return graphs.dot_of(model, options_from(table.unpack(values, 1, #option_names)), subgraph)
    end),
  plot_model = shell.define("plot_model -> a text",
    "Draws the graph of a model into a file (.svg, .png, .txt, or .dot for Graphviz); returns "
      .. "the path.",
    parameters_with(false, { name = "to_file", type = "a text", default = "model.png",
      doc = "Path of the file." }),
    function(model, to_file, ...) return graphs.plot(model, to_file, options_from(...)) end),
}
