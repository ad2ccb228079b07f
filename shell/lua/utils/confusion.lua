-- The confusion matrix: how often each class is predicted for each true class.
local cr, shell = ...
local ops = cr.ops

-- Converts x to class numbers, which count from 0. A row of scores becomes the class with the
-- highest score; a single score becomes class 1 if it is above 0.5, else class 0.
local function classes_of(name, x, reference)
  x = cr.tensor(x)
  if reference and #x.shape == #reference.shape + 1 then
    x = x.shape[#x.shape] == 1 and ops.greater(ops.squeeze(x, -1), 0.5) or ops.argmax(x, -1)
  end
  if #x.shape ~= 1 then
    shell.fail("confusion_matrix: expected ", name, " of one axis, got shape ", cr.show(x.shape))
  end
  local classes = ops.cast(x, "int32")
  if x.dtype:find "float" and ops.any(ops.not_equal(ops.cast(classes, x.dtype), x)):item() then
    shell.fail("confusion_matrix: expected ", name, " that are whole numbers, or a row of scores ",
      "for each label")
  end
  return classes
end

local function check_classes(name, classes, count)
  local minimum, maximum = ops.min(classes):item(), ops.max(classes):item()
  if minimum < 0 or maximum >= count then
    shell.fail("confusion_matrix: ", name, " must be from 0 to ", count - 1, ", got ",
      minimum < 0 and minimum or maximum)
  end
end

return {
  confusion_matrix = shell.define("confusion_matrix -> a tensor",
    "Counts how often samples of each class (row) were predicted as each class (column): "
      .. "cr.utils.confusion_matrix({ 0, 1, 1 }, { 0, 1, 0 }).", {
    { name = "labels", type = "a tensor", doc = "The true class of each sample, from 0.",
      required = true },
    { name = "predictions", type = "a tensor",
      doc = "The predicted class of each sample, or a row of scores of which the highest "
        .. "counts; a single score above 0.5 is class 1.",
      required = true },
    { name = "num_classes", type = "an integer",
      doc = "Number of classes; nil: as many as occur." },
    { name = "weights", type = "a tensor", doc = "Weight of each sample; nil: 1." },
  }, function(labels, predictions, num_classes, weights)
    labels = classes_of("labels", labels)
    predictions = classes_of("predictions", predictions, labels)
    if #labels ~= #predictions then
      shell.fail("confusion_matrix: got ", #labels, " labels and ", #predictions, " predictions")
    end
    if #labels == 0 then
      local n = num_classes or 0
      return ops.zeros({ n, n }, weights and "float32" or "int32")
    end
    local count = num_classes
      or math.tointeger(ops.max(ops.maximum(labels, predictions)):item()) + 1
    check_classes("labels", labels, count)
    check_classes("predictions", predictions, count)
    local pairs_of_classes = labels * count + predictions
    local counts = ops.bincount(pairs_of_classes,
      { weights = weights ~= nil and cr.tensor(weights) or nil, minlength = count * count })
    return ops.reshape(counts, { count, count })
  end),
}
