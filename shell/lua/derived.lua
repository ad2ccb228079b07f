-- Classes that users derive from built-in ones: cr.layers.Dense:subclass("Mine", { { "scale", 1.0 }
-- }). An object of such a class has the options of the built-in class, and in the attribute `inner`
-- an object of the built-in class. Methods that the derived class does not define, and calls such
-- as Mine.super.call(self, inputs), go to `inner`.
local cr = ...

local hooks = {}

function hooks.call(self, ...) return self.inner(...) end

function hooks.compute_mask(self, inputs, mask) return self.inner:compute_mask(inputs, mask) end

function hooks.reset_states(self) self.inner:reset_states() end

--- Builds the inner layer. Those of its weights that are properties become attributes of the outer
--- layer too.
function hooks.build(self, input_shape)
  if not self.inner.built then self.inner:build(input_shape) end
  for _, weight in ipairs(self.inner.weights) do
    local succeeded, is_property = pcall(function() return self.inner[weight.name] == weight end)
    if succeeded and is_property then self[weight.name] = weight end
  end
end

function hooks.slots(self) return self.inner:slots() end

function hooks.initial_slot(self, name, variable)
  return self.inner:initial_slot(name, variable)
end

function hooks.update_step(self, gradient, variable, learning_rate, state)
  self.inner:update_step(gradient, variable, learning_rate, state)
end

function hooks.compute_loss(self, ...) return self.inner:compute_loss(...) end

function hooks.validate_outputs(self, ...) self.inner:validate_outputs(...) end

function hooks.validate_model_compatibility(self, ...)
  self.inner:validate_model_compatibility(...)
end

function hooks.update_state(self, ...) self.inner:update_state(...) end

function hooks.result(self) return self.inner:result() end

function hooks.reset_state(self) self.inner:reset_state() end

function hooks.get_state(self) return self.inner:get_state() end

function hooks.set_state(self, state) self.inner:set_state(state) end

-- The hooks of callbacks. Before the first hook of a run is called, the inner callback gets the
-- model.
local callback_hooks = { "get_state", "set_state" }
local first_hooks = { on_train_begin = true, on_test_begin = true, on_predict_begin = true }
for _, name in ipairs { "epoch", "train_batch", "test_batch", "predict_batch", "train", "test",
  "predict" } do
  for _, moment in ipairs { "begin", "end" } do
    local hook = "on_" .. name .. "_" .. moment
    callback_hooks[#callback_hooks + 1] = hook
    hooks[hook] = function(self, ...)
      if first_hooks[hook] then self.inner:attach_run(self.model, self.params) end
      self.inner[hook](self.inner, ...)
    end
  end
end

-- For each kind of class: `base`, the base class of derived classes; `hooks`, the methods that call
-- the same method of self.inner, the object of the built-in class; `options`, further options with
-- which that object is made; `without`, options of the derived object that it does not get.
local class_kinds = {
  layer = { base = cr.Layer, hooks = { "build", "call", "compute_mask", "reset_states" } },
  loss = { base = cr.losses.Loss, hooks = { "call" }, options = { reduction = "none" } },
  distillation_loss = { base = cr.distillation.DistillationLoss,
    hooks = { "compute_loss", "validate_outputs", "validate_model_compatibility" } },
  regularizer = { base = cr.regularizers.Regularizer, hooks = { "call" } },
  constraint = { base = cr.constraints.Constraint, hooks = { "call" } },
  initializer = { base = cr.initializers.Initializer, hooks = { "call" } },
  schedule = { base = cr.optimizers.schedules.LearningRateSchedule, hooks = { "call" } },
  metric = { base = cr.metrics.Metric, hooks = { "update_state", "result", "reset_state" } },
  callback = { base = cr.callbacks.Callback, hooks = callback_hooks },
  optimizer = { base = cr.optimizers.Optimizer, hooks = { "slots", "initial_slot", "update_step" },
    without = { learning_rate = true } },
}

-- The names of the options that the base class handles itself.
local base_options = {}
for _, name in ipairs { "name", "trainable", "dtype", "autocast", "input_shape",
  "batch_input_shape", "input_dim", "batch_size", "weights", "sublayer_options", "reduction",
  "activity_regularizer", "clipnorm", "clipvalue", "global_clipnorm", "use_ema", "ema_momentum",
  "ema_overwrite_frequency", "loss_scale_factor", "gradient_accumulation_steps" } do
  base_options[name] = true
end

-- Options with the same name as a property of all objects of the base class, such as
-- layer.output_shape. The value of such an option is read from the given options, because reading
-- it from the object would return the property.
local member_options = { output_shape = true }

-- Converts options or arguments of the built-in class to rows {name, default, doc, type}. Options
-- that the base class has, too, are left out, unless the built-in class requires them: then they
-- have another meaning, as input_dim of Embedding has.
local function rows_of(declared_rows)
  local rows = {}
  for _, row in ipairs(declared_rows) do
    if (not base_options[row.name] or row.required) and row.input ~= 1 then
      rows[#rows + 1] = { row.name, row.default == nil and cr.null or row.default, row.doc,
        row.type }
    end
  end
  return rows
end

-- Whether the class wraps other optimizers; this file makes no classes derived from such a class.
local function wraps_optimizers(declared_options)
  for _, row in ipairs(declared_options) do
    if row.name == "inner_optimizer" or row.name == "optimizers" then return true end
  end
end

local function append_options(rows, additions)
  rows = table.move(rows, 1, #rows, 1, {})
  for _, row in ipairs(additions or {}) do rows[#rows + 1] = row end
  for name, default in pairs(additions or {}) do
    if type(name) == "string" then rows[#rows + 1] = { name, default } end
  end
  return rows
end

-- Makes the object of the built-in class. Error messages name the derived class instead of the
-- built-in one.
local function make_inner(class, name, options)
  local built_in_object
  local ok, message = pcall(function() built_in_object = class(options) end)
  if ok then return built_in_object end
  local prefix = class.name .. ": "
  local first, last = tostring(message):find(prefix, 1, true)
  error(first and message:sub(1, first - 1) .. name .. ": " .. message:sub(last + 1) or message, 0)
end

-- The init of the derived class: makes the inner object from those options of the derived object
-- that the built-in class has.
local function init_of(class, rows, kind)
  local excluded_names = kind.without or {}
  return function(self, options)
    local inner_options = {}
    for name, value in pairs(kind.options or {}) do inner_options[name] = value end
    for _, row in ipairs(rows) do
      local name = row[1]
      local value
      if member_options[name] then value = options and options[name] else value = self[name] end
      local is_method = type(value) == "function" and not (options and options[name])
      if not is_method and not excluded_names[name] then inner_options[name] = value end
    end
    if class.kind == "layer" then
      inner_options.name, inner_options.dtype = self.name, self.dtype_policy
    end
    self.inner = make_inner(class, self.class_name, inner_options)
    if cr.describe(self.inner).what == "model" then
      error(string.format("%s: the objects of %s are models, from which no class is derived; "
        .. "derive from cr.Model and keep one as an attribute", self.class_name, class.name), 0)
    end
  end
end

-- Whether the class has a method of this name.
local function has_method(members, name)
  for _, member in ipairs(members) do
    if member.parameters and member.name == name then return true end
  end
end

-- Adds to the configuration what the inner object has learned from data, such as a vocabulary or
-- means.
local function add_learned_options(super, rows)
  function super.learned_options(self)
    local config, learned_options = self.inner and self.inner:get_config() or {}, {}
    for _, row in ipairs(rows) do learned_options[row[1]] = config[row[1]] end
    return learned_options
  end
end

-- The names of those arguments of call that are input tensors beside the first, in order.
local function further_inputs(arguments)
  local names = {}
  for _, argument in ipairs(arguments) do
    if argument.input and argument.input > 1 then names[argument.input - 1] = argument.name end
  end
  return names
end

-- Makes build and call of a layer with several inputs pass all inputs to the inner layer as one
-- list.
local function gather_inputs(super, names)
  function super.build(self, input_shape, ...)
    local further_shapes = { ... }
    local shapes = table.move(further_shapes, 1, math.min(#further_shapes, #names),
      2, { input_shape })
    hooks.build(self, #shapes > 1 and shapes or input_shape)
  end

  function super.call(self, inputs, arguments)
    local all_inputs, other_arguments = { inputs }, {}
    for name, value in pairs(arguments or {}) do other_arguments[name] = value end
    for _, name in ipairs(names) do
      all_inputs[#all_inputs + 1] = other_arguments[name]
      other_arguments[name] = nil
    end
    return self.inner(#all_inputs > 1 and all_inputs or inputs, other_arguments)
  end

  function super.compute_mask(_, _, mask)
    if type(mask) == "table" then return mask[1] end
    return mask
  end
end

-- Methods of the built-in class that derived classes do not get. reset_states already calls
-- reset_state. The state that save_assets and load_assets keep in files is in the configuration
-- (add_learned_options).
local excluded_methods = { reset_state = true, save_assets = true, load_assets = true }

-- Adds to `super` those methods of the built-in class (`members`) that neither `base` nor `super`
-- has. Each calls the method of the same name of self.inner, the object of the built-in class.
local function add_methods(super, members, base)
  for _, member in ipairs(members) do
    local name = member.name
    local is_excluded = rawget(base, name) or rawget(super, name) or excluded_methods[name]
    if member.parameters and not is_excluded then
      super[name] = function(self, ...) return self.inner[name](self.inner, ...) end
    end
  end
end

return function(class, name, options, arguments)
  local kind, description = class_kinds[class.kind], cr.describe(class)
  if not kind or wraps_optimizers(description.options) then return end
  local rows = rows_of(description.options)
  local super = setmetatable({ init = init_of(class, rows, kind) }, { __index = kind.base })
  local DerivedClass = kind.base:subclass(name, append_options(rows, options),
    class.kind == "layer" and append_options(rows_of(description.arguments), arguments) or nil)
  for _, hook in ipairs(kind.hooks) do super[hook] = hooks[hook] end
  local further_input_names = further_inputs(description.arguments)
  if #further_input_names > 0 then gather_inputs(super, further_input_names) end
  add_methods(super, description.members, kind.base)
  if has_method(description.members, "adapt") then add_learned_options(super, rows) end
  for key, method in next, super do DerivedClass[key] = method end
  DerivedClass.super = super
  return DerivedClass
end
