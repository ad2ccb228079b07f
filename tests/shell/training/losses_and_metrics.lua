-- Options of losses and metrics that are given by values; the expected numbers are those of Keras
-- 3.15.1.
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

do -- AUC tells all its thresholds
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

print "ok losses and metrics"
