-- Losses and metrics with arrays as options, and the variables of metrics; the expected numbers are
-- those of Keras 3.15.1.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

do -- the circle loss compares embeddings with each other or with references
  local labels = cr.tensor({ 1, 2, 2 }, "int32")
  local embeddings = cr.tensor { { 1, 0 }, { 0.6, 0.8 }, { 0.8, 0.6 } }
  local references = cr.tensor { { 0, 1 }, { 0.6, -0.8 }, { 0.8, 0.6 }, { 1, 0 } }
  local reference_labels = cr.tensor({ 1, 2, 1, 2 }, "int32")
  local function circle(options)
    return cr.losses.circle(labels, embeddings, options)
  end
  check.near(circle { ref_labels = reference_labels, ref_embeddings = references,
    remove_diagonal = false }, { 134.40001, 179.20001, 134.40001 }, 1e-5)
  check.near(circle { ref_labels = reference_labels, ref_embeddings = references },
    { 57.600006, 60.92801, 134.40001 }, 1e-5)
  check.near(circle { ref_labels = labels, ref_embeddings = embeddings }, circle(), 0)
  check.near(circle(), { 0, 3.3632395, 25.728 }, 1e-5)
  check.fails(function() circle { ref_embeddings = references } end,
    "as many ref_labels", "(4, 2) and (1, 3)")
end

do -- the attributes of AUC contain all its thresholds
  local auc = cr.metrics.AUC { thresholds = { 0.75, 0.5 } }
  check.near(auc.thresholds, { -1e-7, 0.5, 0.75, 1.0000001 }, 1e-9)
  assert(auc.num_thresholds == 4)
  check.same(auc:get_config().thresholds, { 0.75, 0.5 })
  auc = cr.metrics.AUC { num_thresholds = 5 }
  check.near(auc.thresholds, { -1e-7, 0.25, 0.5, 0.75, 1.0000001 }, 1e-9)
  assert(#cr.metrics.AUC().thresholds == 200)
  assert(cr.metrics.AUC { num_thresholds = false, thresholds = { 0.5 } }.num_thresholds == 3)
  check.fails(function() cr.metrics.AUC { num_thresholds = false } end, "num_thresholds")
end

-- a metric tracks the variables and metrics in its attributes and in tables in them, as in Keras
do
  local NestedMetric = cr.metrics.Metric:subclass "Both"
  function NestedMetric:init()
    self.batches = cr.Variable(0.0, { name = "batches", trainable = false })
    self.sums = { cr.Variable(cr.zeros { 2 }, { trainable = false }), named = cr.Variable(0.0) }
    self.inner = cr.metrics.Mean()
    self.others = { cr.metrics.MeanSquaredError(), { cr.metrics.Mean() } }
  end
  function NestedMetric:update_state(y_true, y_pred)
    self.batches:assign_add(1)
    self.inner:update_state(y_true)
    self.others[1]:update_state(y_true, y_pred)
  end
  function NestedMetric:result() return self.inner:result() + self.batches end
  local metric = NestedMetric()
  check.same(#metric.variables, 3 + 2 + 2 + 2)
  metric.inner = metric.inner
  metric.batches = metric.batches
  check.same(#metric.variables, 9)
  metric:update_state(cr.tensor { 2, 4 }, cr.tensor { 1, 2 })
  check.near(metric:result(), 4)
  metric:reset_state()
  for _, variable in ipairs(metric.variables) do
    check.near(cr.ops.sum(cr.ops.abs(variable)), 0)
  end
  metric.sums[2] = cr.Variable(0.0)
  metric.sums = metric.sums  -- tables are searched for variables when they are assigned
  check.same(#metric.variables, 10)

  local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
  model:compile { loss = "mse", metrics = { NestedMetric() } }
  local history = model:fit(cr.ones { 6, 2 }, cr.ones { 6, 1 } * 3,
    { batch_size = 2, epochs = 2, verbose = 0 }).history
  -- the mean of the targets (3) plus the number of batches (3) in each epoch
  check.near(history.both, { 6, 6 })
end

print "ok losses and metrics"
