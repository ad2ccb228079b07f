-- cr.applications: the list of models, sizes and options, weight files, models as parts of others,
-- preprocessing of pixels, names of classes.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local apps = cr.applications

-- ---- the names of models and of the modules of Keras that contain them

local model_count, module_count = 0, 0
for name, member in pairs(apps) do
  if type(member) == "table" then module_count = module_count + 1 else model_count =
    model_count + 1 end
end
check.same({ model_count, module_count }, { 40, 17 })
assert(apps.resnet.ResNet50 == apps.ResNet50 and apps.resnet50.ResNet50 == apps.ResNet50)
assert(apps.vgg16.VGG16 and apps.efficientnet_v2.EfficientNetV2S
  and apps.mobilenet_v3.MobileNetV3Small)
check.fails(function() return apps.LeNet end, "cr.applications has no 'LeNet'")
assert(rawget(apps, "LeNet") == nil)
check.fails(function() apps.VGG16 { weights = "imagnet" } end, "either nil")
check.same(apps.MobileNet { weights = false, include_top = false, pooling = false, alpha = 0.25,
  input_shape = { 32, 32, 3 } }.output_shape, { -1, 1, 1, 256 })
local description = cr.describe(apps.MobileNet)
check.same(description.options[2].name, "alpha")
check.same(description.options[9].default, 1000)
_G.cr = cr
check.same((cr.complete "cr.applications.ResNet15"), { "ResNet152", "ResNet152V2" })
check.same((cr.complete "cr.applications.ResNet50{include_t"), { "include_top" })

-- ---- numbers of parameters, as Keras publishes them

for name, count in pairs {
  MobileNetV2 = 3538984, MobileNetV3Small = 2554968, MobileNetV3Large = 5507432,
  NASNetMobile = 5326716, EfficientNetB1 = 7856239,
  EfficientNetV2B0 = 7200312, ResNet50V2 = 25613800, InceptionV3 = 23851784, Xception = 22910480,
  ConvNeXtTiny = 28589128,
} do
  check.same(apps[name]():count_params(), count)
end

-- ---- the graphs of the models: names, numbers and shapes of layers

local function small_model(name, options)
  local all_options = { input_shape = { 32, 32, 3 }, classes = 3 }
  for key, value in pairs(options or {}) do all_options[key] = value end
  return apps[name](all_options)
end

local function layers_by_name(model)
  local layer_by_name = {}
  for _, layer in ipairs(model.layers) do layer_by_name[layer.name] = layer end
  return layer_by_name
end

-- layers without a given name are numbered as in Keras 3, continuing in the next model
cr.clear_session()
local first_layers = layers_by_name(apps.NASNetMobile { input_shape = { 32, 32, 3 }, classes = 3 })
assert(first_layers.input_layer and first_layers.activation and first_layers.activation_1
  and first_layers.zero_padding2d
  and not first_layers.activation_0)
local second_layers = layers_by_name(apps.NASNetMobile { input_shape = { 32, 32, 3 }, classes = 3 })
for name in pairs(second_layers) do
  if name:match "^activation" then assert(not first_layers[name], name) end
end

-- every kind of block gives the same results before and after saving
local x = cr.random.uniform({ 2, 32, 32, 3 }, 0, 255)
for _, model_row in ipairs {
  { "MobileNetV3Small" }, { "ConvNeXtTiny" }, { "NASNetMobile" },
  { "MobileNetV2", { alpha = 0.35 } },
  { "MobileNet", { alpha = 0.25, depth_multiplier = 2, classifier_activation = cr.null } },
} do
  local model = small_model(model_row[1], model_row[2])
  local y = model:predict(x)
  check.same(y.shape, { 2, 3 })
  local copy = cr.models.model_from_json(model:to_json())
  copy:set_weights(model:get_weights())
  check.near(copy:predict(x), y:totable(), 1e-5)
  check.same(copy:to_json(), model:to_json())
end
local residual_net = apps.InceptionResNetV2 { input_shape = { 75, 75, 3 }, include_top = false,
  pooling = "avg" }
check.same(residual_net.outputs[1].shape, { -1, 1536 })

-- models without the classifier (include_top = false)
check.same(small_model("MobileNet", { include_top = false }).outputs[1].shape, { -1, 1, 1, 1024 })
check.same(small_model("MobileNet", { include_top = false, pooling = "max" }).outputs[1].shape,
  { -1, 1024 })
check.same(apps.MobileNetV2 { include_top = false }.outputs[1].shape, { -1, -1, -1, 1280 })
check.same(apps.MobileNetV2 { include_top = false, input_shape = { cr.null, 64, 3 } }.name,
  "mobilenetv2_1.00_None")
check.same(apps.MobileNetV3Small { classes = 5 }.inputs[1].shape, { -1, -1, -1, 3 })

-- without an activation the output is logits; null counts as an absent argument; 5 channels cause a
-- warning
check.same(small_model("MobileNet",
  { classifier_activation = false }):get_layer("predictions"):get_config().activation, "linear")
check.same(small_model("MobileNet", { name = "mine" }).name, "mine")
check.same(small_model("ConvNeXtTiny",
  { name = cr.null, include_top = cr.null, include_preprocessing = false }).name, "convnext_tiny")
local ok, warning_text =
  check.run "cr.applications.MobileNet { input_shape = { 32, 32, 5 }, alpha = 0.25 }"
assert(ok and warning_text:find("usually expects 1 or 3 input channels", 1, true)
  and warning_text:find("5 input channels", 1, true), warning_text)

-- a model of inner features, a clone, and an input made by the user
local mobile_net = small_model("MobileNet", { alpha = 0.25 })
local feature_model = cr.Model { inputs = mobile_net.inputs,
  outputs = mobile_net:get_layer("conv_pw_6_relu").output }
check.same(feature_model:predict(x).shape, { 2, 2, 2, 128 })
local cloned_model = cr.models.clone_model(mobile_net)
check.same(cloned_model:to_json(), mobile_net:to_json())
local pixels = cr.Input { shape = { 28, 28, 1 } }
local rgb = cr.ops.concatenate({ pixels, pixels, pixels }, -1)
local padded_rgb = cr.layers.ZeroPadding2D { padding = 2 }(rgb)
local grey_model = apps.MobileNet { input_tensor = padded_rgb, classes = 3, alpha = 0.25 }
assert(#grey_model.inputs == 1 and grey_model.inputs[1] == pixels)
check.same(grey_model:predict(cr.zeros { 1, 28, 28, 1 }).shape, { 1, 3 })
-- an application applied to the output of a layer, with all its branches
local original_model = apps.DenseNet121 { include_top = false, input_shape = { 64, 64, 3 } }
local enlarged_output = cr.layers.UpSampling2D { 16 }(original_model.outputs[1])
assert(apps.MobileNetV3Small { input_tensor = enlarged_output, include_top = false }.inputs[1]
  == original_model.inputs[1])
-- two applications that share an input, joined in one model
local shared_input = cr.Input { shape = { 32, 32, 3 } }
local left_model = apps.MobileNetV3Small { input_tensor = shared_input, include_top = false,
  pooling = "avg" }
local right_model = apps.ConvNeXtTiny { input_tensor = shared_input, include_top = false,
  pooling = "avg" }
local model = cr.Model { inputs = shared_input,
  outputs = cr.ops.concatenate({ left_model.outputs[1], right_model.outputs[1] }, -1) }
check.same(model.outputs[1].shape, { -1, 576 + 768 })

-- ---- weights are loaded from files

for _, ending in ipairs { ".weights.h5", ".h5" } do
  local path = check.temporary(ending)
  mobile_net:save_weights(path)
  local loaded_model = small_model("MobileNet", { alpha = 0.25, weights = path })
  check.same(loaded_model:predict(x):totable(), mobile_net:predict(x):totable())
  check.fails(function()
    small_model("MobileNet", { alpha = 0.25, weights = path, classifier_activation = "relu" })
  end, "Only nil and `softmax`")
  check.fails(function() small_model("MobileNet", { alpha = 0.5, weights = path }) end, "conv1")
  os.remove(path)
end
check.fails(function()
  apps.ResNet50 { weights = "nowhere.h5" }
end, "`weights` argument", "nowhere.h5")
check.fails(function()
  apps.ResNet50 { weights = "imagenet", classes = 10 }
end, "`classes` should be 1000", "10")
-- weight files of Keras are searched in its cache folder
for call, names in pairs {
  ['ResNet50 { weights = "imagenet" }'] = {
    "There is no file /nowhere/models/resnet50_weights_tf_dim_ordering_tf_kernels.h5. Put there",
    "https://storage.googleapis.com/tensorflow/keras-applications/resnet/"
      .. "resnet50_weights_tf_dim_ordering_tf_kernels.h5",
  },
  ['ConvNeXtTiny { weights = "imagenet", include_top = false }'] =
    { "/nowhere/models/convnext_tiny_notop.h5" },
  ['NASNetMobile { weights = "imagenet" }'] = { "/nowhere/models/nasnet_mobile.h5",
    "nasnet/NASNet-mobile.h5" },
  ['MobileNetV2 { weights = "imagenet", alpha = 0.5, input_shape = { 96, 96, 3 } }'] =
    { "kernels_0.5_96.h5" },
} do
  local ok, text = check.run("cr.applications." .. call, "KERAS_HOME='/nowhere'")
  assert(not ok)
  for _, name in ipairs(names) do assert(text:find(name, 1, true), text) end
end
check.fails(function()
  apps.MobileNet { weights = "imagenet", alpha = 0.3 }
end, "alpha can be one of", "0.3")
check.fails(function()
  apps.VGG16 { weights = "imagenet", input_shape = { 64, 64, 3 } }
end, "should be (224, 224, 3)", "(64, 64, 3)")

-- ---- options of applications are checked

-- errors are reported at the user's line
check.fails(function() apps.ResNet50 { classes = {} } end, "applications.lua:", "classes")
check.fails(function()
  apps.ResNet50 { include_topp = true }
end, "ResNet50", "include_topp", "did you mean 'include_top'?")
check.fails(function()
  apps.ResNet50 { input_shape = { 16, 64, 3 } }
end, "Input size must be at least 32x32", "(16, 64, 3)")
check.fails(function() apps.InceptionV3 { input_shape = { 74, 75, 3 } } end, "at least 75x75")
check.fails(function() apps.MobileNetV3Small { input_shape = { 31, 64, 3 } } end, "at least 32x32")
check.fails(function() apps.ResNet50 { input_shape = { 64, 64 } } end, "three integers", "(64, 64)")
check.fails(function() apps.ResNet50 { input_shape = { 64, 64, "3" } } end, "three integers")
check.fails(function()
  apps.ResNet50 { input_shape = { -1, 64, 3 } }
end, "static `input_shape`", "(None, 64, 3)")
check.fails(function()
  apps.ResNet50 { pooling = "mean", include_top = false }
end, "pooling", "avg, max")
check.fails(function() apps.ResNet50 { pooling = "avg" } end, "pooling", "include_top = false")
check.fails(function() apps.ResNet50 { classes = 0 } end, "classes")
check.fails(function() apps.ResNet50 { include_top = "no" } end, "include_top")
check.fails(function() apps.MobileNet { alpha = 0 } end, "alpha", "above 0")
check.fails(function() apps.MobileNet { depth_multiplier = 1.5 } end, "depth_multiplier", "1.5")
check.fails(function()
  apps.MobileNetV3Small { dropout_rate = "half" }
end, "dropout_rate", "from 0 to 1")
check.fails(function() apps.ConvNeXtTiny { name = { "n" } } end, "name", "a text")
check.fails(function() apps.ResNet50 { input_tensor = x } end, "input_tensor", "symbol")
check.fails(function()
  apps.ResNet50 { input_tensor = shared_input, input_shape = { 64, 64, 3 } }
end, "(64, 64, 3)", "(None, 32, 32, 3)")

-- ---- preprocess_input converts pixels as each model expects them

local image = cr.tensor { { { { 0, 127.5, 255 } } } }
check.near(apps.mobilenet.preprocess_input(image), { { { { -1, 0, 1 } } } }, 1e-6)
check.near(apps.resnet50.preprocess_input(image),
  { { { { 255 - 103.939, 127.5 - 116.779, -123.68 } } } }, 1e-4)
check.near(apps.densenet.preprocess_input(image),
  { { { { -0.485 / 0.229, (0.5 - 0.456) / 0.224, (1 - 0.406) / 0.225 } } } }, 1e-5)
assert(rawequal(apps.efficientnet.preprocess_input(image), image))
local preprocess = apps.imagenet_utils.preprocess_input
check.near(preprocess(image, { mode = "tf" }), { { { { -1, 0, 1 } } } }, 1e-6)
check.near(preprocess(cr.tensor { { { 0 } }, { { 127.5 } }, { { 255 } } },
  { data_format = "channels_first" }),
  { { { 255 - 103.939 } }, { { 127.5 - 116.779 } }, { { -123.68 } } }, 1e-4)
check.near(preprocess(image:cast "uint8", { mode = "tf" }), { { { { -1, 127 / 127.5 - 1, 1 } } } },
  1e-6)
local symbol = cr.Input { shape = { 1, 1, 3 } }
local model = cr.Model { inputs = symbol, outputs = apps.vgg16.preprocess_input(symbol) }
check.near(model:predict(image), { { { { 255 - 103.939, 127.5 - 116.779, -123.68 } } } }, 1e-4)
check.fails(function()
  preprocess(image, { mode = "torchy" })
end, "Expected mode to be one of", "torchy")
check.fails(function() preprocess(image, { data_format = "last" }) end, "Expected data_format",
  "last")
check.fails(function() preprocess(cr.zeros { 4, 4 }) end, "preprocess_input", "{ 4, 4 }")
check.fails(function() preprocess(true) end, "preprocess_input: x", "true")
check.fails(function() preprocess(cr.layers.Dense) end, "preprocess_input: x", "Dense")
check.fails(function() preprocess(cr.zeros { 4, 4, 1 }) end, "3 channels")

-- ---- decode_predictions gives the names of classes

local scores = {}
for i = 1, 1000 do scores[i] = i == 8 and 0.5 or i == 3 and 0.25 or 0 end
local decode = apps.resnet.decode_predictions
check.fails(function() decode(cr.zeros { 2, 10 }) end, "(samples, 1000)", "10")
check.fails(function() decode "x" end, "decode_predictions: preds", "x")
check.fails(function() decode(cr.tensor { scores }, { top = 0 }) end, "top")

-- names come from a file in a folder of Keras
local cache_folder = check.temporary ""
assert(os.execute("mkdir -p '" .. cache_folder .. "/models'"))
local function run_decoding(class_count)
  if class_count then
    local entries = {}
    for class = 0, class_count - 1 do
      entries[#entries + 1] = ('"%d": ["n%08d", "thing_%d"]'):format(class, class, class)
    end
    local file = assert(io.open(cache_folder .. "/models/imagenet_class_index.json", "w"))
    file:write("{", table.concat(entries, ", "), "}")
    file:close()
  end
  return check.run([[
    local scores = {}
    for i = 1, 1000 do scores[i] = i == 8 and 0.5 or i == 3 and 0.25 or 0 end
    local best = cr.applications.resnet.decode_predictions(cr.tensor { scores, scores },
      { top = 2 })
    print(#best, #best[2])
    for _, row in ipairs(best[1]) do print(table.unpack(row)) end]],
      "KERAS_HOME='" .. cache_folder .. "'")
end
local text
ok, text = run_decoding()
assert(not ok and text:find(cache_folder
  .. "/models/imagenet_class_index.json. Put there what is at https://", 1, true), text)
ok, text = run_decoding(999)
assert(not ok and text:find("expected 1000 classes", 1, true) and text:find("got 999", 1, true),
  text)
ok, text = run_decoding(1000)
assert(ok, text)
check.same(text, "2\t2\nn00000007\tthing_7\t0.5\nn00000002\tthing_2\t0.25\n")
os.execute("rm -r '" .. cache_folder .. "'")
