-- The part of cr.config that Keras has and that is decided here: what is so can be asked and asked
-- for; the opposite is refused with the reason.
local _, shell = ...
local config = {}

local function fixed(name, state, why)
  local function setter(wanted)
    return function()
      if wanted ~= state then shell.fail(wanted and "enable_" or "disable_", name, ": ", why) end
    end
  end
  config["enable_" .. name], config["disable_" .. name] = setter(true), setter(false)
  config["is_" .. name .. "_enabled"] = function() return state end
end

fixed("flash_attention", true,
  "the device has one way to compute attention, which keeps no table of all scores")
fixed("traceback_filtering", true, "errors have no frames of the framework that could be shown")
fixed("interactive_logging", true,
  "progress is shown as `verbose` says; nothing is written to logs instead")
fixed("unsafe_deserialization", false,
  "loading never runs code from a file; functions are given in custom_objects")
fixed("nnx", false, "there is one implementation, which does not run on JAX")

local function only(name, value, why)
  config["set_" .. name] = function(wanted)
    if wanted ~= value then shell.fail("set_", name, ": ", why, ", got ", tostring(wanted)) end
  end
end

only("backend", "crescent", "there is one implementation, 'crescent'")
only("epsilon", 1e-7,
  "it is 1e-7 everywhere; layers and optimizers have an option epsilon of their own")
only("image_data_format", "channels_last",
  "the default is 'channels_last'; layers have an option data_format of their own")

return config
