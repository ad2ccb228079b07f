-- The layers of random models: for each kind of data, functions that draw a layer for it, as a
-- table with class and options. Options may contain layers, and "Sequential" and "Functional" hold
-- layers. `takes` marks a layer that is called with several tensors: "itself" passes the previous
-- tensor to all of its inputs, "both" passes the two previous tensors.
local function pick(list) return list[math.random(#list)] end
local function chance(n) return math.random(n) == 1 end

local activations = { "relu", "tanh", "sigmoid", "gelu", "silu", "elu", "softplus", "selu",
  "linear", "leaky_relu", "hard_sigmoid", "mish", "softsign" }
local function activation() return pick(activations) end
--- A random seed for a layer that draws random numbers, so that it draws the same ones compiled, op
--- by op and in every dtype.
local function seed() return math.random(1000) end

local function recurrent(name)
  return { name, { units = pick { 1, 3, 8 }, return_sequences = true, go_backwards = chance(4),
    reset_after = name == "GRU" and chance(2) or nil, activation = chance(3) and "relu" or nil,
    dropout = chance(4) and 0.3 or nil, seed = seed() } }
end

local function cell(name) return { name, { units = pick { 2, 5 } } } end

local layer_kinds = {}

--- Layers for inputs of any shape (samples, ..., channels).
layer_kinds.anywhere = {
  function()
    return { "Dense", { units = pick { 1, 2, 7, 16, 33, 65 }, activation = activation() } }
  end,
  function() return { "Dense", { units = pick { 3, 8 }, use_bias = false } } end,
  function()
    return { "Dense", { units = 4, kernel_regularizer = "l2", bias_constraint = "non_neg" } }
  end,
  function()
    return { "EinsumDense", { equation = "...x,xy->...y", output_shape = 5, bias_axes = "y" } }
  end,
  function() return { "Activation", { activation = activation() } } end,
  function() return { "BatchNormalization", { center = not chance(4) } } end,
  function() return { "LayerNormalization" } end,
  function() return { "RMSNormalization" } end,
  function() return { "UnitNormalization" } end,
  function() return { "GroupNormalization", { groups = 1 } } end,
  function() return { "SpectralNormalization", { layer = { "Dense", { units = 5 } } } } end,
  function() return { "PReLU" } end,
  function() return { "ELU" } end,
  function() return { "ReLU", { max_value = 6, negative_slope = 0.1 } } end,
  function() return { "LeakyReLU" } end,
  function() return { "ThresholdedReLU", { theta = 0 } } end,
  function() return { "Softmax" } end,
  function() return { "Identity" } end,
  function() return { "ActivityRegularization", { l2 = 0.01 } } end,
  function() return { "Rescaling", { scale = 0.5, offset = 0.1 } } end,
  function() return { "Normalization", { mean = 0.5, variance = 2, axis = {} } } end,
  function() return { "Dropout", { rate = pick { 0.2, 0.5 }, seed = seed() } } end,
  function() return { "GaussianDropout", { rate = 0.3, seed = seed() } } end,
  function() return { "AlphaDropout", { rate = 0.3, seed = seed() } } end,
  function() return { "GaussianNoise", { stddev = 0.3, seed = seed() } } end,
  function() return { "StochasticDepth", { drop_path_rate = 0.4 } } end,
  function() return { "CustomScaleLayer", { scale = 0.3 }, takes = "itself" } end,
  function()
    return { "Sequential", { { "Dense", { units = 4, activation = activation() } },
      { "LayerScale", { init_values = 0.5, projection_dim = 4 } } } }
  end,
  function()
    return { "Functional", { { "Dense", { units = pick { 3, 6 }, activation = activation() } },
      pick(layer_kinds.anywhere)() } }
  end,
}

--- Layers for sequences (samples, time, channels).
layer_kinds.sequences = {
  function()
    return { "Conv1D", { filters = pick { 1, 2, 3, 8, 16 }, kernel_size = pick { 1, 2, 3, 5 },
      padding = pick { "same", "causal" }, dilation_rate = pick { 1, 1, 2 },
      activation = activation(), use_bias = chance(2) } }
  end,
  function() return recurrent "LSTM" end,
  function() return recurrent "GRU" end,
  function() return recurrent "SimpleRNN" end,
  function()
    return { "Bidirectional", { layer = { pick { "LSTM", "GRU" }, { units = pick { 2, 5 },
      return_sequences = true } }, merge_mode = pick { "concat", "sum", "mul", "ave" } } }
  end,
  function()
    return { "RNN", { cell = cell(pick { "LSTMCell", "GRUCell", "SimpleRNNCell" }),
      return_sequences = true } }
  end,
  function()
    return { "RNN", {
      cell = { "StackedRNNCells", { cells = { cell "GRUCell", cell "SimpleRNNCell" } } },
      return_sequences = true } }
  end,
  function()
    return { pick { "MaxPooling1D", "AveragePooling1D" }, { pool_size = pick { 2, 3 },
      strides = pick { 1, 2 }, padding = "same" } }
  end,
  function()
    return { pick { "AdaptiveAveragePooling1D", "AdaptiveMaxPooling1D" },
      { output_size = pick { 2, 3 } } }
  end,
  function()
    return { "SeparableConv1D", { filters = pick { 2, 8 }, kernel_size = 3, padding = "same",
      activation = activation(), depth_multiplier = pick { 1, 2 } } }
  end,
  function()
    return { "DepthwiseConv1D", { kernel_size = 3, padding = "same",
      depth_multiplier = pick { 1, 2 }, activation = activation() } }
  end,
  function()
    return { "Conv1DTranspose", { filters = pick { 2, 5 }, kernel_size = pick { 2, 3 },
      strides = pick { 1, 2 }, padding = "same", activation = activation() } }
  end,
  function()
    return { "LocallyConnected1D", { filters = pick { 2, 5 }, kernel_size = pick { 1, 2 } } }
  end,
  function() return { "UpSampling1D", { size = 2 } } end,
  function() return { "ZeroPadding1D", { padding = 1 } } end,
  function() return { "Cropping1D", { cropping = 1 } } end,
  function() return { "Permute", { dims = { 2, 1 } } } end,
  function() return { "SpatialDropout1D", { rate = 0.3, seed = seed() } } end,
  function()
    return { "TimeDistributed", { layer = { "Dense", { units = pick { 2, 5 },
      activation = activation() } } } }
  end,
  function() return { "Masking" } end,
  function() return { "Masking" } end,
  function()
    return { "Attention", { use_scale = chance(2), score_mode = pick { "dot", "dot", "concat" },
      dropout = chance(4) and 0.3 or nil, seed = seed() }, takes = "itself", causal = chance(2) }
  end,
  function()
    return { "AdditiveAttention", { use_scale = chance(2), dropout = chance(4) and 0.3 or nil,
      seed = seed() }, takes = "itself", causal = chance(2) }
  end,
  function()
    return { "MultiHeadAttention", { num_heads = pick { 1, 2, 3 }, key_dim = pick { 2, 4, 8 },
      value_dim = chance(3) and 3 or nil, use_bias = chance(2), dropout = chance(4) and 0.3 or nil,
      seed = seed() }, takes = pick { "itself", "both" }, causal = chance(2) }
  end,
  function()
    return { "GroupedQueryAttention", { head_dim = pick { 2, 4 }, num_query_heads = 4,
      num_key_value_heads = pick { 1, 2, 4 }, use_gate = chance(3),
      dropout = chance(4) and 0.3 or nil, seed = seed() }, takes = pick { "itself", "both" },
      causal = chance(2) }
  end,
  function() return { "Dot", { axes = { 2, 2 }, normalize = chance(3) }, takes = "itself" } end,
  function()
    return { "Sequential", { { "Dense", { units = 1 } },
      { "STFTSpectrogram", { frame_length = 4, frame_step = 2,
        mode = pick { "real", "imag" } } } } }
  end,
}

--- Layers for images (samples, height, width, channels).
layer_kinds.images = {
  function()
    return { "Conv2D", { filters = pick { 1, 3, 8, 16, 33 }, kernel_size = pick { 1, 2, 3, 5 },
      padding = "same", strides = pick { 1, 1, 2 }, activation = activation(),
      use_bias = chance(2) } }
  end,
  function()
    return { "Conv2D", { filters = pick { 4, 8 }, kernel_size = 3, padding = "same",
      dilation_rate = 2, activation = activation() } }
  end,
  function()
    return { "DepthwiseConv2D", { kernel_size = pick { 3, 5 }, padding = "same",
      strides = pick { 1, 2 }, activation = activation() } }
  end,
  function()
    return { "SeparableConv2D", { filters = pick { 2, 8 }, kernel_size = 3, padding = "same",
      activation = activation() } }
  end,
  function()
    return { pick { "MaxPooling2D", "AveragePooling2D" }, { pool_size = pick { 2, 3 },
      padding = "same", strides = pick { 1, 2 } } }
  end,
  function()
    return { pick { "AdaptiveAveragePooling2D", "AdaptiveMaxPooling2D" },
      { output_size = pick { 2, 3 } } }
  end,
  function()
    return { "Conv2DTranspose", { filters = pick { 2, 5 }, kernel_size = pick { 2, 3 },
      strides = pick { 1, 2 }, padding = "same", activation = activation() } }
  end,
  function()
    return { "LocallyConnected2D", { filters = 2, kernel_size = pick { 1, 2 },
      activation = activation() } }
  end,
  function()
    return { "ConvLSTM1D", { filters = pick { 1, 3 }, kernel_size = pick { 1, 2 }, padding = "same",
      return_sequences = true } }
  end,
  function()
    return { "UpSampling2D", { size = 2, interpolation = pick { "nearest", "bilinear" } } }
  end,
  function() return { "Resizing", { height = 5, width = 3, interpolation = "bilinear" } } end,
  function() return { "CenterCrop", { height = 3, width = 3 } } end,
  function() return { "ZeroPadding2D", { padding = 1 } } end,
  function() return { "Cropping2D", { cropping = 1 } } end,
  function() return { "PReLU", { shared_axes = { 1, 2 } } } end,
  function() return { "GroupNormalization", { groups = -1 } } end,
  function() return { "BatchNormalization" } end,
  function() return { "SpatialDropout2D", { rate = 0.3, seed = seed() } } end,
  function() return { "RandomFlip", { seed = seed() } } end,
  function() return { "RandomCrop", { height = 3, width = 3, seed = seed() } } end,
}

--- Layers for volumes or videos (samples, depth, height, width, channels).
layer_kinds.volumes = {
  function()
    return { "Conv3D", { filters = pick { 1, 3, 8 }, kernel_size = pick { 1, 2, 3 },
      padding = "same", strides = pick { 1, 1, 2 }, activation = activation() } }
  end,
  function()
    return { "Conv3DTranspose", { filters = 2, kernel_size = 2, strides = pick { 1, 2 },
      padding = "same" } }
  end,
  function()
    return { pick { "MaxPooling3D", "AveragePooling3D" }, { pool_size = 2, padding = "same",
      strides = pick { 1, 2 } } }
  end,
  function()
    return { pick { "AdaptiveAveragePooling3D", "AdaptiveMaxPooling3D" }, { output_size = 2 } }
  end,
  function()
    return { "ConvLSTM2D", { filters = pick { 1, 3 }, kernel_size = 2, padding = "same",
      return_sequences = true } }
  end,
  function() return { "UpSampling3D", { size = { 1, 2, 1 } } } end,
  function() return { "ZeroPadding3D", { padding = 1 } } end,
  function() return { "Cropping3D", { cropping = { { 0, 1 }, { 1, 0 }, { 0, 0 } } } } end,
  function() return { "SpatialDropout3D", { rate = 0.3, seed = seed() } } end,
  function() return { "BatchNormalization" } end,
}
layer_kinds.rows = layer_kinds.anywhere

--- Layers that reduce data of a kind to rows (samples, channels): one layer, or several.
layer_kinds.ends = {
  sequences = { { { "Flatten" } }, { { "GlobalAveragePooling1D" } }, { { "GlobalMaxPooling1D" } },
    { { "LSTM", { units = 3 } } }, { { "GRU", { units = 2 } } } },
  images = { { { "Flatten" } }, { { "GlobalAveragePooling2D" } }, { { "GlobalMaxPooling2D" } },
    { { "Reshape", { target_shape = { -1, 2 } } }, { "GlobalAveragePooling1D" } } },
  volumes = { { { "Flatten" } }, { { "GlobalAveragePooling3D" } }, { { "GlobalMaxPooling3D" } } },
  rows = { { { "Identity" } }, { { "RepeatVector", { n = 3 } }, { "GRU", { units = 3 } } } },
}

--- Layers that merge two tensors of the same shape.
layer_kinds.merges = { "Add", "Multiply", "Average", "Maximum", "Subtract", "Concatenate",
  "Minimum" }

local rounding_reason = "changes images by numbers that each dtype rounds otherwise; "
  .. "tests/validation draws it"
local integer_reason = "makes whole numbers or codes of them, that no dtype changes; "
  .. "tests/shell/preprocessing"

--- Layers that are not drawn, with the reasons.
layer_kinds.never = {
  InputLayer = "every model begins with it", OperationLayer = "calls of cr.ops make it",
  Lambda = "holds a function, which a recipe in a file cannot", Wrapper = "the base of others",
  Pipeline = "a Sequential of layers for images",
  MelSpectrogram = "the logarithm of numbers near 0",
  ConvLSTM3D = "the same code as ConvLSTM1D and ConvLSTM2D, for minutes",
  MaxNumBoundingBoxes = "passes images on",
  Discretization = "steps of a number's size, no gradient",
  CategoryEncoding = integer_reason, HashedCrossing = integer_reason, Hashing = integer_reason,
  IntegerLookup = integer_reason, StringLookup = integer_reason, TextVectorization = integer_reason,
  CutMix = rounding_reason, MixUp = rounding_reason, AugMix = rounding_reason,
  RandAugment = rounding_reason, AutoContrast = rounding_reason,
  ContrastLimitedAdaptiveHistogramEqualization = rounding_reason, Equalization = rounding_reason,
  Solarization = rounding_reason, RandomBrightness = rounding_reason,
  RandomColorDegeneration = rounding_reason, RandomColorJitter = rounding_reason,
  RandomContrast = rounding_reason, RandomGrayscale = rounding_reason, RandomHue = rounding_reason,
  RandomInvert = rounding_reason, RandomPosterization = rounding_reason,
  RandomSaturation = rounding_reason, RandomSharpness = rounding_reason,
  RandomGaussianBlur = rounding_reason, RandomErasing = rounding_reason,
  RandomElasticTransform = rounding_reason, RandomPerspective = rounding_reason,
  RandomRotation = rounding_reason, RandomShear = rounding_reason,
  RandomTranslation = rounding_reason, RandomZoom = rounding_reason,
}

return layer_kinds
