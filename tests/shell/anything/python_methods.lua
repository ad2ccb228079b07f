-- Names of methods in Python's libraries, and methods that are called with a dot.
local cr = require "crescent"
local check = dofile(arg[0]:match "^(.*)/[^/]*/" .. "/support/check.lua")

local x = cr.zeros { 2, 2 }
local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 }, name = "dense" }) }
model:compile { optimizer = "sgd", loss = "mse" }

-- Each of these methods of Python's libraries exists in Crescent, or a message names what replaces
-- it.
for object, words in pairs {
  [x] = [[T all any argmax argmin argsort astype choose clip compress conj copy cumprod cumsum
    diagonal dot dtype fill flatten imag item itemset itemsize max mean min nbytes ndim nonzero
    partition prod ptp put ravel real repeat reshape resize round searchsorted shape size sort
    squeeze std sum swapaxes take tobytes tofile tolist trace transpose var view abs add add_ bmm
    bool byte cat chunk clamp clone contiguous cpu cuda detach device diag dim div double eq exp
    expand expand_as flip float gather ge gt half index_select int is_contiguous isnan le log long
    lt masked_fill masked_select matmul median mm mul narrow ne neg nelement norm numel numpy
    permute pow relu requires_grad scatter_ select softmax split sqrt stack sub t tanh to topk tril
    type unbind unique unsqueeze where zero_ get_shape]],
  [model] = [[add pop compile fit evaluate predict train_on_batch test_on_batch predict_on_batch
    make_train_function summary save save_weights load_weights get_layer layers inputs outputs
    input output loss optimizer metrics metrics_names history stop_training to_json to_yaml
    get_config from_config export reset_states compiled_loss compiled_metrics jit_compile
    steps_per_execution fit_generator predict_classes predict_proba count_params state_dict
    load_state_dict parameters named_parameters train eval zero_grad to cuda cpu half apply children
    modules forward name trainable weights get_weights set_weights call clone build]],
  [model.layers[1]] = [[add_loss add_weight build call compute_mask compute_output_shape
    count_params get_config get_weights set_weights losses non_trainable_weights
    trainable_weights weights dtype input output input_spec kernel bias units parameters
    register_buffer forward]],
  [model.optimizer] = [[learning_rate lr iterations apply_gradients minimize get_config variables
    step zero_grad param_groups]],
} do
  for word in words:gmatch "%S+" do
    local ok, message = pcall(function() return object[word] end)
    assert(ok or cr.explained(message, ""):find("; ", 1, true), message)
  end
end

-- If a method is called with a dot, the message asks for a colon, whatever the object and the
-- argument are.
for _, object in ipairs { x, model.layers[1].kernel, cr.Input { shape = { 2 } } } do
  for _, name in ipairs(cr.describe(object).methods) do
    for _, argument in ipairs { 1, "a", {}, true } do
      local ok, message = pcall(object[name], argument)
      assert(not ok and message:find("methods are called with ':'", 1, true), name .. ": no error")
    end
  end
end
check.same(x.sum(x):item(), 0.0)
check.same(x:sum(1).shape, { 2 })
