-- Names and options of Keras that Crescent lacks, with the reason, by namespace; "methods" means
-- methods of every class. Options are given as "namespace.Class.option"; "namespace.*.option" means
-- the option of all classes in the namespace. `pending` lists names that are being added, and may
-- exist or not.
local rows, pending = {}, {}

local function add_exceptions(namespace, reason, names)
  rows[namespace] = rows[namespace] or {}
  for name in names:gmatch "%S+" do rows[namespace][name] = reason end
end
local function add_pending(namespace, names)
  pending[namespace] = pending[namespace] or {}
  for name in names:gmatch "%S+" do pending[namespace][name] = true end
end

-- ---- names of Keras that serve other Python frameworks

add_exceptions("layers", "a layer around code of another Python framework",
  "FlaxLayer JaxLayer TFSMLayer TorchModuleWrapper")
add_exceptions("callbacks", "a format of JAX", "OrbaxCheckpoint")
add_exceptions("methods", "of torch.nn.Module, from which Keras derives there", [[
  T_destination add_module apply bfloat16 buffers children cpu cuda double dump_patches eval
  extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu
  load_state_dict modules named_buffers named_children named_modules named_parameters parameters
  register_backward_hook register_buffer register_forward_hook register_forward_pre_hook
  register_full_backward_hook register_load_state_dict_post_hook register_module
  register_parameter requires_grad_ set_extra_state share_memory state_dict to to_empty
  torch_params train type xpu zero_grad ]])
add_exceptions("methods", "what calling a layer or a model is made of",
  "symbolic_call rematerialized_call")
add_exceptions("methods", "files are written by formats, not by objects",
  "load_own_variables save_own_variables")
add_exceptions("methods", "from_config is a method of the class", "from_config")
add_exceptions("methods", "what quantize() is made of: a layer's own business",
  "quantized_build quantized_call get_quantization_layer_structure")
add_exceptions("methods", "steps are compiled anew by themselves when a model has changed", [[
  jit_compile make_predict_function make_test_function make_train_function ]])
add_exceptions("methods of losses.Loss", "what it computes in is that of the predictions", "dtype")
add_exceptions("methods of metrics.Metric", "metrics written in Lua have it",
  "add_variable add_weight")
add_exceptions("methods of KerasTensor", "tensors are dense",
  "ragged ragged_rank row_splits_dtype sparse")
add_exceptions("methods of Variable", "several devices do not share a variable",
  "aggregation synchronization overwrite_with_gradient")
add_exceptions("methods of callbacks.Callback",
  "a run attaches itself; CallbackList takes the model as an option", "set_model set_params")
add_exceptions("methods of optimizers.Optimizer",
  "an update is variable:assign(value), and slots() names what each variable has", [[
  add_optimizer_variables add_variable add_variable_from_reference assign assign_add assign_sub ]])
add_exceptions("options", "a loss takes two tensors",
  "losses.circle.ref_labels losses.circle.ref_embeddings")
add_exceptions("options", "the order is that of the class", "losses.circle.remove_diagonal")
add_exceptions("options", "the metric has no axis: it is the loss' function there",
  "metrics.binary_crossentropy.axis")
add_exceptions("options", "the same initializer, by its other name",
  "layers.PReLU.alpha_initializer")
add_exceptions("options", "weights are not quantized by GPTQ",
  "layers.EinsumDense.gptq_unpacked_column_size")
add_exceptions("options", "that of every layer, which has a default", [[
  layers.SpatialDropout1D.dtype layers.SpatialDropout2D.dtype layers.SpatialDropout3D.dtype ]])
add_exceptions("options", "random unless told: nothing is downloaded", "applications.*.weights")

add_exceptions("dtype_policies", "weights are kept in 8 bits and 4, by their largest magnitudes",
  "AWQDTypePolicy GPTQDTypePolicy QuantizedFloat8DTypePolicy")
add_exceptions("options", "nothing is downloaded: somebody puts the file there", [[
  utils.get_file.archive_format utils.get_file.force_download utils.get_file.untar ]])
add_exceptions("options", "a list: its default is in the text", [[
  visualization.draw_bounding_boxes.color visualization.*.value_range
  visualization.plot_bounding_box_gallery.true_color
  visualization.plot_bounding_box_gallery.pred_color ]])
add_exceptions("options", "there is one backend", "utils.split_dataset.preferred_backend")
add_exceptions("options", "said by stateful_metrics, which lacks the others",
  "utils.Progbar.stateless_metrics")

-- ---- names that are being added

return { rows = rows, pending = pending }
