-- cr.applications: the functions that make models (ResNet50, ...), and for each family a module as
-- in Keras, with preprocess_input and decode_predictions.
local _, shell = ...

local applications = {}
for _, family in ipairs {
  "convnext", "densenet", "efficientnet", "efficientnet_v2", "inception_resnet_v2", "inception_v3",
  "mobilenet",
  "mobilenet_v2", "mobilenet_v3", "nasnet", "resnet", "vgg", "xception",
} do
  for name, module in pairs(shell.library("applications/" .. family)) do
    applications[name] = module
    for key, member in pairs(module) do
      if key:match "^%u" then applications[key] = member end
    end
  end
end
applications.imagenet_utils = shell.library("applications/imagenet").module { modes = true }
return applications
