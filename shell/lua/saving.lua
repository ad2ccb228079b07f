-- cr.saving: models and weights in files, and what of cr.utils belongs to it.
local cr = ...
local saving = { load_model = cr.models.load_model, save_model = cr.models.save_model }

for _, name in ipairs {
  "CustomObjectScope", "custom_object_scope", "deserialize_keras_object", "get_custom_objects",
  "get_registered_name",
  "get_registered_object", "register_keras_serializable", "serialize_keras_object",
} do saving[name] = cr.utils[name] end

--- Weights of a model into a file; options as of model:save_weights.
function saving.save_weights(model, ...) return model:save_weights(...) end
--- Weights of a model out of a file; options as of model:load_weights.
function saving.load_weights(model, ...) return model:load_weights(...) end

return saving
