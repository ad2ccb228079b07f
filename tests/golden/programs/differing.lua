-- Files of `programs` that do not agree yet, and why; programs.lua reads them.
return {
  ["dict_outputs_of_layer.h5"] = "a layer that returns a table",
  ["dict_outputs_of_layer.keras"] = "a layer that returns a table",
  ["gnn_segment_sum.keras"] = "layers of own layers by attributes",
  ["involution.keras"] = "layers of own layers by attributes",
  ["model_of_submodels.keras"] = "layers of own models by attributes",
  ["nbeats.keras"] = "layers of own layers by attributes",
  ["perceiver.keras"] = "the batch size as a value",
  ["subclassed_model.keras"] = "layers of own models by attributes",
  ["vit.keras"] = "layers of own layers by attributes",
}
