// check_layer: runs the checks of a layer in their order.
#include <algorithm>

#include "check/checked_layer.h"

namespace crescent {
namespace {

using check::CheckedLayer;

struct LayerCheck {
  const char* name;
  std::string (*run)(const CheckedLayer& layer);
};

/// If the call of the layer fails, the other checks do not run, so this check comes first.
constexpr LayerCheck kFirstCheck = {"call", check::check_call};
constexpr LayerCheck kChecks[] = {{"shapes", check::check_shapes},
                                  {"weights", check::check_weights},
                                  {"options", check::check_options},
                                  {"repeated calls", check::check_repeats},
                                  {"threads", check::check_threads},
                                  {"compiled", check::check_compiled},
                                  {"batch of 1", check::check_batch_of_one},
                                  {"batch of 0", check::check_empty_batch},
                                  {"batch of 257", check::check_large_batch},
                                  {"samples apart", check::check_samples_apart},
                                  {"larger sizes", check::check_larger_sizes},
                                  {"zeros", check::check_zeros},
                                  {"masks", check::check_masks},
                                  {"mixed_float16", check::check_mixed_float16},
                                  {"mixed_bfloat16", check::check_mixed_bfloat16},
                                  {"float64", check::check_float64},
                                  {".keras file", check::check_keras_file},
                                  {".h5 file", check::check_h5_file},
                                  {".weights.h5 file", check::check_weights_file},
                                  {"training", check::check_training},
                                  {"malformed inputs", check::check_wrong_inputs}};
constexpr const char* kGradientCheck = "gradients";

std::vector<std::string> names_of_checks() {
  std::vector<std::string> names{kFirstCheck.name, kGradientCheck};
  for (const LayerCheck& row : kChecks) names.push_back(row.name);
  return names;
}

void expect_known(const std::vector<std::string>& excluded_checks) {
  const std::vector<std::string> names = names_of_checks();
  for (const std::string& name : excluded_checks)
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail("check_layer: no check '", name, "'", did_you_mean(name, names));
}

std::string subject_of(const std::string& class_name) {
  const auto info = registry().get(Layer::kKind, class_name);
  const bool is_lua = info->origin == "Lua";
  return concat(info->name,
                is_lua || info->plugin.empty() ? "" : " of plugin '" + info->plugin + "'");
}

}  // namespace

CheckReport check::first_check(const std::string& class_name, const Dict& options,
                               const LayerCheckOptions& checks) {
  CheckReport report{subject_of(class_name), {}};
  add_result(report, kFirstCheck.name,
             [&] { return kFirstCheck.run(CheckedLayer(class_name, options, checks)); });
  return report;
}

CheckReport check_layer(const std::string& class_name, const Dict& options,
                        const LayerCheckOptions& checks) {
  const InterruptScope interrupt_scope;
  expect_known(checks.without);
  const auto is_wanted = [&](std::string_view name) {
    return std::find(checks.without.begin(), checks.without.end(), name) == checks.without.end();
  };
  if (!is_wanted(kFirstCheck.name))
    return {subject_of(class_name),
            {{kFirstCheck.name, CheckOutcome::skipped,
              "it is left out, and with it the other checks, which all call the layer"}}};
  const CheckedLayer layer(class_name, options, checks);
  CheckReport report = check::first_check(class_name, options, checks);
  if (!report.ok()) return report;
  for (const LayerCheck& row : kChecks) {
    heed_interruption("checking a layer");
    if (is_wanted(row.name)) check::add_result(report, row.name, [&] { return row.run(layer); });
  }
  if (is_wanted(kGradientCheck)) check::add_gradient_rows(report, layer);
  return report;
}

}  // namespace crescent
