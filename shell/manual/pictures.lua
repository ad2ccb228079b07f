-- Pictures for pages of classes: the curve of an activation, the learning rates of a schedule, the
-- distribution of an initializer's values.
local cr, host = ...
local html = host.part "html"
local pictures = {}

local x = cr.ops.linspace(-6, 6, 121)

--- Whether f is elementwise: each element of its result depends only on the element at the same
--- position.
local function is_elementwise(f)
  local succeeded, is_equal = pcall(function()
    local middle_part = x:slice(31, 91)
    return cr.ops.all(cr.ops.equal(f(middle_part), f(x):slice(31, 91))):item()
  end)
  return succeeded and is_equal
end

local drawing_functions = {}

function drawing_functions.activation(class, file)
  local f = cr.activations[class.name]
  if not is_elementwise(f) then return end
  cr.plot(x, f(x), { file = file })
  return "Its values from -6 to 6."
end

function drawing_functions.initializer(class, file)
  local succeeded, values = pcall(function() return cr.initializers[class.name]() { 64, 64 } end)
  local varies = succeeded and #cr.ops.unique(values:reshape { -1 }) > 2
  if not varies then return end
  cr.hist(values, { file = file })
  return "How the elements of a kernel of 64 by 64 are spread."
end

local example_options = { initial_learning_rate = 0.1, decay_steps = 100, first_decay_steps = 50,
  decay_rate = 0.5, boundaries = { 50, 120 }, values = { 0.1, 0.05, 0.01 } }

function drawing_functions.schedule(class, file)
  local config = {}
  for _, option in ipairs(class.options) do
    if option.required then config[option.name] = example_options[option.name] end
  end
  local schedule, steps, values = cr.schedules[class.name](config), {}, {}
  for step = 0, 200 do
    steps[#steps + 1], values[#values + 1] = step, schedule(step)
  end
  cr.plot(cr.tensor(steps), cr.tensor(values), { file = file, xlabel = "step" })
  return "The rate by the step, for what is required set to "
    .. html.element("code", html.escaped(cr.show(config):gsub("%s+", " "))) .. "."
end

--- The HTML of the picture for a class; empty if classes of its kind have none.
function pictures.of(class, path)
  local draw = drawing_functions[class.kind]
  local name = path .. ".svg"
  local caption = draw and draw(class, host.folder .. "/" .. name)
  if not caption then return "" end
  return ('<figure><img src="%s" alt="%s" width="640" height="400"><figcaption>%s</figcaption>'
    .. "</figure>"):format(name, html.escaped(path), caption)
end

cr.random.seed(1)
return pictures
