-- cr.saving: models and weights in files, and related functions of cr.utils.
local cr, shell = ...
local saving = { KerasFileEditor = shell.library "saving/file_editor",
  load_model = cr.models.load_model,
  save_model = cr.models.save_model }

for _, name in ipairs {
  "CustomObjectScope", "custom_object_scope", "deserialize_keras_object", "get_custom_objects",
  "get_registered_name",
  "get_registered_object", "register_keras_serializable", "serialize_keras_object",
} do saving[name] = cr.utils[name] end

--- Saves the weights of a model in a file; options are those of model:save_weights.
--- @param model a model
--- @param ... a path and options
--- @return nothing
function saving.save_weights(model, ...) return model:save_weights(...) end
--- Loads the weights of a model from a file; options are those of model:load_weights.
--- @param model a model
--- @param ... a path and options
--- @return nothing
function saving.load_weights(model, ...) return model:load_weights(...) end

return saving
