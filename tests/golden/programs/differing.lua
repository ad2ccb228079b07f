-- Files of `programs` that do not agree yet, and why; programs.lua reads them.
return {
  ["dict_outputs_of_layer.h5"] = "a layer that returns a table",
  ["dict_outputs_of_layer.keras"] = "a layer that returns a table",
  ["perceiver.keras"] = "the batch size as a value",
}
