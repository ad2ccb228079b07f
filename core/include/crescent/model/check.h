// Checks of user code: gradients against finite differences, layers and plugins against the rules
// that hold for all of them.
//
//   const CheckReport report = check_layer("Scale", {{"initializer", "ones"}}, {.shapes = {{3}}});
//   if (!report.ok()) std::puts(report.text().c_str());
#pragma once
#include <functional>

#include "crescent/layer/layer.h"

namespace crescent {

enum class CheckOutcome : uint8_t { passed, failed, skipped };

/// One property that was checked.
struct CheckResult {
  std::string name;  ///< for example "gradient of weights"
  CheckOutcome outcome = CheckOutcome::passed;
  std::string text;  ///< what the check found, as a sentence
};

/// The results of the checks of one function, layer or class.
struct CRESCENT_API CheckReport {
  std::string subject;  ///< for example "Scale of plugin 'acme.scale'"
  std::vector<CheckResult> results;

  bool ok() const;  ///< whether no check failed
  std::string text() const;
};

struct GradientCheckOptions {
  double step = 0;  ///< step size of the finite differences; 0: a default for the dtype
  /// The largest accepted error, as a fraction of a tensor's largest derivative; 0: a default for
  /// the dtype.
  double tolerance = 0;
  /// The numbers of elements and of directions that are checked per tensor, chosen at random.
  int64_t elements = 10, directions = 3;
  int64_t seed = 1;
};

/// Compares the reverse-mode gradient of f, with respect to each floating input and each variable,
/// with central differences. f must give the same results each time; if f draws random numbers, it
/// must restore its generators.
CRESCENT_API CheckReport check_gradient(const std::function<Tensors(const Tensors&)>& f,
                                        const Tensors& inputs, const Variables& variables = {},
                                        const GradientCheckOptions& options = {});

struct LayerCheckOptions {
  std::vector<Shape> shapes;  ///< the shape of each input without the batch axis
  /// The dtype of each input; the last one holds for all further inputs.
  std::vector<DType> dtypes;
  double low = -1, high = 1;  ///< the range of the values of inputs
  /// The only batch size that the layer accepts; 0: the layer accepts any.
  int64_t batch_size = 0;
  std::vector<std::string> without{};  ///< names of checks that do not run
  int64_t seed = 1;
};

/// Checks a layer of this class that is made with `layer_options`: build, call, shapes,
/// configuration, files, precisions, batch sizes, masks, gradients, repeated and compiled calls.
CRESCENT_API CheckReport check_layer(const std::string& class_name, const Dict& layer_options,
                                     const LayerCheckOptions& options);

/// Loads the plugin, by name or path, and checks each of its classes. `options` maps the names of
/// classes that need options or input shapes to these: {"options": {...}, "shapes": [[3]], ...}.
CRESCENT_API std::vector<CheckReport> check_plugin(const std::string& plugin,
                                                   const Dict& options = {});

}  // namespace crescent
