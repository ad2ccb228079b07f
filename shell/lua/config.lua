-- cr.config.print, limits of runs, and functions of keras.config whose setting is fixed in
-- Crescent: the getter returns the fixed value; the setter accepts only this value and fails for
-- others with the reason.
local cr, shell = ...
local config = {}

-- Fails if the option `name` of cr.config.print is given and `is_right` is false; `allowed`
-- describes the allowed values.
local function check(name, value, is_right, allowed)
  if value ~= nil and not is_right then
    shell.fail("print: ", name, " must be ", allowed, ", got ", cr.show(value))
  end
end

local function check_integer(name, value, minimum, maximum)
  local is_right = math.type(value) == "integer" and value >= minimum
    and value <= (maximum or value)
  check(name, value, is_right,
    maximum and string.format("an integer from %d to %d", minimum, maximum)
      or "an integer not below " .. minimum)
end

config.print = shell.define("print -> nothing",
  "Sets how values are printed: cr.config.print { precision = 4 }. Options that are not given "
    .. "return to their defaults.",
  {
    { name = "precision", type = "an integer",
      doc = "Maximum number of digits after the decimal point; 8." },
    { name = "threshold", type = "an integer",
      doc = "Tensors of more elements (1000) and lists of more elements (100) are abbreviated." },
    { name = "width", type = "an integer",
      doc = "Width of a line in characters: that of the terminal, at most 100 for tables." },
    { name = "pager", type = "a boolean",
      doc = "Show results longer than the screen in $PAGER or less; true." },
    { name = "time", type = "a number",
      doc = "Commands that take at least this many seconds show their time; 2." },
  }, function(precision, threshold, width, pager, time)
    check_integer("precision", precision, 0, 17)
    check_integer("threshold", threshold, 0)
    check_integer("width", width, 1)
    check("pager", pager, type(pager) == "boolean", "true or false")
    check("time", time, type(time) == "number" and time >= 0, "a number not below 0")
    shell.set_printing(precision or 8, threshold or 1000, width or 0)
    shell.printing = {
      precision = precision, threshold = threshold, width = width, pager = pager, time = time,
    }
  end)

-- Defines the getter and the setter of a limit of all runs.
local function define_limit(name, what)
  config[name] = shell.define(name .. " -> an integer or nil",
    "The largest number of " .. what .. "; nil: no limit.", {}, function() return shell[name]() end)
  config["set_" .. name] = shell.define("set_" .. name .. " -> nothing",
    "Limits the number of " .. what .. ", for trial runs; so does the environment variable KERAS_"
      .. name:upper() .. ".", {
      { name = name, type = "an integer", doc = "The limit; nil: none." },
    }, function(limit)
      if limit ~= nil and (math.type(limit) ~= "integer" or limit < 1) then
        shell.fail("set_", name, ": expected an integer of at least 1 or nil, got ", cr.show(limit))
      end
      shell["set_" .. name](limit)
    end)
end

define_limit("max_epochs", "epochs of fit")
define_limit("max_steps_per_epoch", "batches in an epoch, in evaluate and in predict")

local function define_fixed(name, state, reason)
  local function define(full_name, result, doc, body)
    config[full_name] = shell.define(full_name .. " -> " .. result, doc, {}, body)
  end
  local function define_setter(prefix, new_state)
    local effect = new_state == state and "Does nothing: " or "Refused: "
    define(prefix .. name, "nothing", effect .. reason .. ".",
      function()
        if new_state ~= state then shell.fail(prefix, name, ": ", reason) end
      end)
  end
  define_setter("enable_", true)
  define_setter("disable_", false)
  define("is_" .. name .. "_enabled", "true or false",
    "Always " .. tostring(state) .. ": " .. reason .. ".", function() return state end)
end

define_fixed("flash_attention", true,
  "the device always computes attention without a table of all scores")
define_fixed("traceback_filtering", true, "error messages contain no frames of the framework")
define_fixed("interactive_logging", true,
  "`verbose` decides where progress is shown, and there is no log to write it to")
define_fixed("unsafe_deserialization", false,
  "loading never runs code from a file; functions are passed in custom_objects")
define_fixed("nnx", false, "there is no JAX backend")

local function define_fixed_setter(name, option_name, value, reason)
  local option = { name = option_name, type = "a value", doc = "Accepts only the default." }
  config["set_" .. name] = shell.define("set_" .. name .. " -> nothing",
    "Accepts one value: " .. reason .. ".", { option }, function(new_value)
      if new_value ~= value then
        shell.fail("set_", name, ": ", reason, ", got ", tostring(new_value))
      end
    end)
end

define_fixed_setter("backend", "backend", "crescent", "there is one implementation, 'crescent'")
define_fixed_setter("epsilon", "value", 1e-7,
  "it is 1e-7 everywhere; layers and optimizers have an option epsilon of their own")
define_fixed_setter("image_data_format", "data_format", "channels_last",
  "the default is 'channels_last'; layers have an option data_format of their own")

return config
