-- Words of NumPy, PyTorch, TensorFlow and Keras: the message for each says what Crescent has in its
-- place, and the paths that it names exist.
local cr = require "crescent"
local check = dofile(arg[0]:match "^(.*)/[^/]*/" .. "/support/check.lua")

-- global variables, as entries of the prompt define them
_G.cr, _G.x, _G.y = cr, cr.zeros { 2, 2 }, cr.zeros { 2, 1 }
_G.model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
_G.model:compile { optimizer = "sgd", loss = "mse" }
_G.history = _G.model:fit(_G.x, _G.y, { verbose = 0 })
_G.metric = cr.metrics.Mean()

local function suggestion(...)
  return " (did you mean '" .. table.concat({ ... }, "' or '") .. "'?)"
end

local expected_messages = {
  { "cr.ops.unsqueeze(x, 0)", "no function 'unsqueeze'" .. suggestion "cr.ops.expand_dims" },
  { "cr.ops.cat { x, x }", "no function 'cat'" .. suggestion "cr.ops.concatenate" },
  { "cr.ops.mul(x, x)", "no function 'mul'" .. suggestion "cr.ops.multiply" },
  { "cr.ops.eq(x, x)", "no function 'eq'" .. suggestion "cr.ops.equal" },
  { "cr.ops.detach(x)", "no function 'detach'" .. suggestion "cr.ops.stop_gradient" },
  { "cr.ops.reduce_sum(x)", "no function 'reduce_sum'" .. suggestion "cr.ops.sum" },
  { "cr.ops.reduce_variance(x)", "no function 'reduce_variance'" .. suggestion "cr.ops.var" },
  { "cr.ops.resize(x)", "no function 'resize'" .. suggestion "cr.ops.image.resize" },
  { "cr.ops.no_grad()", "no function 'no_grad'; only a tape records gradients; other code needs "
    .. "nothing around it" },
  { "cr.ops.Dense(3)", "no function 'Dense'" .. suggestion "cr.layers.Dense" },
  { "cr.layers.GELU()", "unknown layer 'GELU'; the layer is cr.layers.Activation \"gelu\"" },
  { "cr.layers.LogSoftmax()",
    "unknown layer 'LogSoftmax'; the layer is cr.layers.Activation \"log_softmax\"" },
  { "cr.layers.ReLu()", "unknown layer 'ReLu'" .. suggestion "ReLU" },
  { "cr.layers.Linear(3, 4)", "unknown layer 'Linear'" .. suggestion "cr.layers.Dense" },
  { "cr.layers.MSELoss()", "unknown layer 'MSELoss'" .. suggestion "cr.losses.MeanSquaredError" },
  { "cr.layers.InstanceNorm2d(3)",
    "unknown layer 'InstanceNorm2d'; it is cr.layers.GroupNormalization { groups = -1 }" },
  { "cr.losses.CrossEntropyLoss()", "unknown loss 'CrossEntropyLoss'"
    .. suggestion("cr.losses.CategoricalCrossentropy", "cr.losses.SparseCategoricalCrossentropy") },
  { "cr.metrics.acc()", "unknown metric 'acc'" .. suggestion "cr.metrics.accuracy" },
  { "cr.callbacks.LearningRateSchedule()",
    "unknown callback 'LearningRateSchedule'" .. suggestion "LearningRateScheduler" },
  { "cr.callbacks.Lambda()", "unknown callback 'Lambda'" .. suggestion "LambdaCallback" },
  { "cr.optimizers.ExponentialDecay()", "unknown optimizer 'ExponentialDecay'"
    .. suggestion("cr.schedules.ExponentialDecay", "cr.optimizers.schedules.ExponentialDecay") },
  { "cr.random.random { 2 }", "cr.random has no 'random'" .. suggestion "cr.random.uniform" },
  { "cr.fit(x, y)", "cr has no 'fit'" .. suggestion "model:fit" },
  { "cr.keras.Model()", "cr has no 'keras'" .. suggestion "cr" },
  { "cr.float32(1)", "cr has no 'float32'; dtypes are texts: \"float32\"" },
  { "cr.train()", "cr has no 'train'" .. suggestion "model:fit" },
  { "cr.Sequentail {}", "cr has no 'Sequentail'" .. suggestion "Sequential" },
  { "cr.Emebdding(3, 4)", "cr has no 'Emebdding'" .. suggestion "cr.layers.Embedding" },
  { "cr.nothing_like_it()", "cr has no 'nothing_like_it'" },
  { "metric:reset()", "no attribute 'reset'; it is metric:reset_state()" },
  { "model.optimizer:update()", "no attribute 'update'; an update is "
    .. "optimizer:apply_gradients(tape:gradient(loss, weights), weights)" },
  { "print(history.val_loss)",
    "no attribute 'val_loss'; the logs are in history.history, as history.history.loss" },
  { "cr.layers.Dense(3, { bias = false })", "no option 'bias'" .. suggestion "use_bias" },
  { "cr.layers.Conv2D { out_channels = 3, kernel_size = 3 }",
    "no option 'out_channels'" .. suggestion "filters" },
  { "cr.layers.Dense { out_features = 3 }", "no option 'out_features'" .. suggestion "units" },
  { "cr.layers.Dropout { p = 0.5 }",
    "no option 'p'; it takes rate, noise_shape, seed" .. suggestion "rate" },
  { "x:sum { dim = 1 }", "no option 'dim'; it takes x, axis, keepdims" .. suggestion "axis" },
  { "model:fit(x, y, { num_epochs = 1 })", "no option 'num_epochs'" .. suggestion "epochs" },
  { "cr.layers.LSTM(3, { dim = 1 })", "no option 'dim'" },
  { 'model:compile { loss = "nll" }',
    "unknown loss 'nll'" .. suggestion "sparse_categorical_crossentropy" },
  { 'cr.layers.Dense(3, { kernel_initializer = "xavier" })',
    "unknown initializer 'xavier'" .. suggestion "glorot_uniform" },
  { "x:cast 'int'", "unknown dtype 'int'; known: float32, float64, bfloat16, float16, int32, "
    .. "int64, uint8, bool, int8, int16, complex64, string" .. suggestion "int32" },
  { "self.dense = 3", "attempt to index a nil value (global 'self'); it is the object in functions "
    .. "that are written with ':', function Mine:call(x)" },

  { "cr.ops.nn.sigmoid(x)", "cr.ops: no function 'nn' (did you mean 'cr.ops'?)" },
  { "cr.ops.core.cond(x)", "cr.ops: no function 'core' (did you mean 'cr.ops'?)" },
  { "cr.ones { 2 }[1]:item()", "attempt to index a number value (field 'integer index'); an "
    .. "element t[i] of a tensor with one axis is a number, which has no methods" },
  { "cr.ops.tile(x, x)", "expected an integer or a list of integers, got "
    .. "<Tensor>; sizes are numbers: x.shape is a list of them" },
  { "cr.compiled(function(n) return cr.ops.tile(x, n) end)(cr.tensor { 2 })",
    "tile: argument 'repeats': expected an integer or a list of integers, got a tensor float32(1,) "
    .. "whose values are not known before the recorded program runs; sizes of axes are known: "
    .. "x.shape" },
  { "local i = cr.Input { shape = { 2 } } local m = cr.Model { inputs = i, outputs = { i, i } } "
    .. "m:compile { loss = { 'mse', nil } } m:fit(x, { x, x }, { verbose = 0 })",
    '["mse"]; nil ends a list, an output without one is cr.null' },

  { "model.evaluate(x, y)", "evaluate: expected a model before the arguments, got a tensor (2, 2): "
    .. "methods are called with ':', model:evaluate(...)" },
  { "function model.call(x) end",
    "model: 'call' cannot be set: it is a method, which a derived class may override" },
  { "cr.imshow(1)", "imshow: expected an image (height, width) or (height, width, 1, 3 or 4), or a "
    .. "batch, got int32()" },
  { "cr:zeros { 3 }", "zeros: what cr contains is called with '.', not with ':': cr.zeros(...)" },
  { "cr:plot(x)", "plot: what cr contains is called with '.', not with ':': cr.plot(...)" },
  { "cr:Model {}", "Model: what cr contains is called with '.', not with ':': cr.Model(...)" },
  { "cr.layers:Dense(3)",
    "Dense: what cr.layers contains is called with '.', not with ':': cr.layers.Dense(...)" },
  { "cr.config:set_floatx 'float64'", "set_floatx: what cr.config contains is called with '.', not "
    .. "with ':': cr.config.set_floatx(...)" },
  { "cr.datasets.mnist:load_data()", "load_data: what cr.datasets.mnist contains is called with "
    .. "'.', not with ':': cr.datasets.mnist.load_data(...)" },
  { "cr.applications:ResNet50 {}", "ResNet50: what cr.applications contains is called with '.', "
    .. "not with ':': cr.applications.ResNet50(...)" },
}
for _, row in ipairs(expected_messages) do
  local message = check.message_of(row[1])
  check.same(message:sub(-#row[2]), row[2], row[1] .. ": " .. message)
end

-- a path that a message names, such as cr.ops.take
local function path_exists(path)
  local ok, value = pcall(load("return " .. path))
  return ok and value ~= nil
end

-- Each of these words is explained, by paths that exist or by a text.
for code, words in pairs {
  ["cr.ops.%s(x)"] = [[unsqueeze cat concat mul div sub eq ne gt ge lt le neg reduce_mean
    reduce_max reduce_min reduce_prod reduce_any reduce_all reduce_std permute bmm mm clamp t
    gather scatter_add scatter_nd index_select masked_select masked_fill topk numel chunk unbind
    narrow expand pow sqr to_float astype argwhere embedding_lookup range rand randn random_normal
    random_uniform movedim rank clip_by_value clip_by_norm global_norm batch_dot dropout conv2d
    max_pool2d avg_pool2d cross_entropy mse_loss l1_loss nll_loss kl_div
    softmax_cross_entropy_with_logits no_grad map_fn sigmoid_cross_entropy_with_logits interpolate
    resize remainder truediv sequence_mask boolean_mask unsorted_segment_sum bucketize ifft
    inverse array_equal rint asin acos atan atan2 from_numpy as_tensor asarray tensor Variable
    constant constant_pad reflect_pad pixel_shuffle dist mish cosine_similarity pairwise_distance
    ctc_batch_cost placeholder get_value set_value gradients learning_phase in_train_phase
    int_shape epsilon floatx foldl foldr update update_add reverse bias_add resize_images print
    insert vmap grad]],
  ["cr.layers.%s(3)"] = [[Linear GELU SiLU Tanh Sigmoid Mish SELU Conv2d ConvTranspose2d MaxPool2d
    AvgPool2d AdaptiveAvgPool2d BatchNorm BatchNorm1d BatchNorm2d LayerNorm GroupNorm InstanceNorm
    RNNCell ModuleList View Transpose Dropout2d EmbeddingBag SelfAttention Transformer
    PositionalEncoding Upsample PixelShuffle ZeroPad2d Merge Concat Sum Sub Mul Mean Max
    TimeDistributedDense AtrousConvolution2D Normalize Rescale Resize RandomHorizontalFlip Module
    Parameter L1Loss Pad Crop Squeeze FullyConnected FC MLP RMSNorm]],
  ["cr.%s(3)"] = [[nn optim Adam no_grad inference_mode save load randn rand manual_seed Tensor
    FloatTensor LongTensor array cat jit compile vmap grad value_and_grad DataLoader io linalg
    Session placeholder K pi inf nan newaxis set_printoptions set_default_dtype summary figure
    from_numpy version __version__ int64 bool mnist EarlyStopping to_categorical]],
  ["cr.losses.%s()"] = [[MSELoss CrossEntropy BCELoss BCEWithLogitsLoss NLLLoss L1Loss
    SmoothL1Loss HuberLoss KLDivLoss CTCLoss RMSE FocalLoss DiceLoss]],
  ["cr.metrics.%s()"] = "acc F1 ROC R2 RMSE TopK ConfusionMatrix",
  ["cr.optimizers.%s()"] = "Momentum Nesterov StepLR CosineAnnealingLR Rmsprop",
  ["cr.callbacks.%s()"] = "EarlyStop Checkpoint LRScheduler ProgressBar NanStop",
  ["x:%s(1)"] = [[unsqueeze cat astype tolist type_as new_zeros is_cuda grad_fn view_as reshape_as
    normal_ uniform_ index_add scatter_add expand_as head describe plot hist show print save]],
  ["model:%s(x)"] = [[score save_model load count_parameters num_params freeze unfreeze get_layers
    add_layer pop_layer transform named_modules zero_grad requires_grad_ double set_lr get_lr]],
  ["%s(x)"] = [[len range filter reversed set tuple getattr hasattr super sys json re tqdm logging
    pickle glob itertools functools]],
} do
  for word in words:gmatch "%S+" do
    local call = code:format(word)
    local message = check.message_of(call)
    local is_explained = message:find("; ", 1, true) or message:find("(did you mean", 1, true)
    assert(is_explained, call .. ": " .. message)
    for path in message:gmatch "'(cr%.[%w_%.]+)'" do
      assert(path_exists(path), call .. ": " .. message)
    end
  end
end
