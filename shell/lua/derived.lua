-- Classes derived from built-in ones: cr.layers.Dense:subclass("Mine", { { "scale", 1.0 } }). Their
-- objects have the options of the built-in class and one of its objects in the attribute `inner`,
-- which does what the class does not do itself: Mine.super.call(self, inputs).
local cr = ...

local hooks = {}

function hooks.call(self, ...) return self.inner(...) end

function hooks.compute_mask(self, inputs, mask) return self.inner:compute_mask(inputs, mask) end

function hooks.reset_states(self) self.inner:reset_states() end

--- The weights of the inner layer are attributes, as they are its properties.
function hooks.build(self, input_shape)
  if not self.inner.built then self.inner:build(input_shape) end
  for _, weight in ipairs(self.inner.weights) do
    local found, is_property = pcall(function() return self.inner[weight.name] == weight end)
    if found and is_property then self[weight.name] = weight end
  end
end

-- What objects of a kind do by their inner one; the options that this is always made with.
local kinds = {
  layer = { base = cr.Layer, hooks = { "build", "call", "compute_mask", "reset_states" } },
  loss = { base = cr.losses.Loss, hooks = { "call" }, options = { reduction = "none" } },
  regularizer = { base = cr.regularizers.Regularizer, hooks = { "call" } },
  constraint = { base = cr.constraints.Constraint, hooks = { "call" } },
  initializer = { base = cr.initializers.Initializer, hooks = { "call" } },
  schedule = { base = cr.optimizers.schedules.LearningRateSchedule, hooks = { "call" } },
}

-- Options of the base, which sees to them itself.
local of_base = {}
for _, name in ipairs { "name", "trainable", "dtype", "autocast", "input_shape",
  "batch_input_shape", "input_dim", "batch_size", "weights", "reduction",
  "activity_regularizer" } do
  of_base[name] = true
end

-- Options or arguments as rows {name, default, doc}.
local function rows_of(declared)
  local rows = {}
  for _, row in ipairs(declared) do
    if not of_base[row.name] then
      rows[#rows + 1] = { row.name, row.default == nil and cr.null or row.default, row.doc }
    end
  end
  return rows
end

-- Whether the class means something else by a name of the base, as Embedding by input_dim and
-- EinsumDense by output_shape.
local function clashes(declared)
  for _, row in ipairs(declared) do
    if row.name == "output_shape" or of_base[row.name] and row.required then return true end
  end
end

local function with_more(rows, more)
  rows = table.move(rows, 1, #rows, 1, {})
  for _, row in ipairs(more or {}) do rows[#rows + 1] = row end
  for name, default in pairs(more or {}) do
    if type(name) == "string" then rows[#rows + 1] = { name, default } end
  end
  return rows
end

-- The inner object: of the options that the built-in class has.
local function init_of(class, rows, always)
  return function(self, options)
    local given = {}
    for name, value in pairs(always or {}) do given[name] = value end
    for _, row in ipairs(rows) do
      local name, value = row[1], self[row[1]]
      local is_method = type(value) == "function" and not (options and options[name])
      if not is_method then given[name] = value end
    end
    if class.kind == "layer" then given.name, given.dtype = self.name, self.dtype_policy end
    self.inner = class(given)
  end
end

-- Whether files keep more of its objects than weights: vocabularies.
local function has_assets(members)
  for _, member in ipairs(members) do
    if member.name == "save_assets" then return true end
  end
end

-- Methods of the built-in class that its kind lacks; reset_states stands for reset_state.
local function add_methods(super, members, base)
  for _, member in ipairs(members) do
    local name = member.name
    if member.parameters and not base[name] and not super[name] and name ~= "reset_state" then
      super[name] = function(self, ...) return self.inner[name](self.inner, ...) end
    end
  end
end

return function(class, name, options, arguments)
  local kind, known = kinds[class.kind], cr.describe(class)
  if not kind or clashes(known.options) or has_assets(known.members) then return end
  local rows = rows_of(known.options)
  local super = setmetatable({ init = init_of(class, rows, kind.options) }, { __index = kind.base })
  local Mine = kind.base:subclass(name, with_more(rows, options),
    class.kind == "layer" and with_more(rows_of(known.arguments), arguments) or nil)
  for _, hook in ipairs(kind.hooks) do super[hook] = hooks[hook] end
  add_methods(super, known.members, kind.base)
  for key, method in next, super do Mine[key] = method end
  Mine.super = super
  return Mine
end
