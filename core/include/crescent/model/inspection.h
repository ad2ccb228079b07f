// Diagnostics of a model: the outputs of its layers, the gradients of its weights, and its loss at
// increasing learning rates. None of them changes the model.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "crescent/base/value.h"
#include "crescent/tensor/tensor.h"

namespace crescent {

template <class T>
class Schema;

struct CRESCENT_API TraceOptions {  // options of Model::trace after x
  Value layers;  ///< name or path of a layer, or a list of these; null: all layers
  bool statistics = true, values = false, training = false;
  std::optional<int64_t> line_length;
  static void describe(Schema<TraceOptions>& s);
};
/// Statistics of a tensor; min, max, mean and std are those of its finite elements, NaN if there
/// are none.
struct CRESCENT_API TensorStatistics {
  double min = 0, max = 0, mean = 0, std = 0;
  double zeros = 0;          ///< fraction of the elements that are zero
  int64_t nan = 0, inf = 0;  ///< how many elements are NaN, and how many are infinite
};
/// An output of one call of a layer.
struct CRESCENT_API TracedOutput {
  std::string layer;  ///< path within the model: "encoder/dense_1"
  std::string class_name;
  int64_t call = 0;    ///< index of the call of the layer, from 0
  int64_t output = 0;  ///< index of the output of the call, from 0
  TensorSpec spec;
  std::optional<TensorStatistics> statistics;  ///< nullopt for strings and complex numbers
  Tensor value;  ///< an empty Tensor unless the option `values` is true
};
/// The outputs of layers in the order in which their calls ended.
struct CRESCENT_API LayerTrace {
  std::vector<TracedOutput> outputs;
  std::vector<std::string> lines;  ///< the outputs as a text table
};

struct CRESCENT_API GradientNormsOptions {  // options of Model::gradient_norms after x and y
  std::optional<int64_t> batch_size;        ///< nullopt: 32
  Value sample_weight;
  std::optional<int64_t> line_length;
  static void describe(Schema<GradientNormsOptions>& s);
};
/// Euclidean norms of a weight, or of all weights of a layer, and of their gradient.
struct CRESCENT_API GradientNorm {
  std::string name;  ///< the path of the weight or of the layer
  double gradient = 0, weight = 0;
  double ratio() const { return gradient / weight; }
};
struct CRESCENT_API GradientNorms {
  std::vector<GradientNorm> weights, layers;
  double loss = 0;
  std::vector<std::string> lines;  ///< the norms as a text table
};

struct CRESCENT_API LearningRateOptions {  // options of Model::find_learning_rate after x and y
  double from = 1e-6, to = 1;
  int64_t steps = 100;
  std::optional<int64_t> batch_size;  ///< nullopt: 32
  double smoothing = 0.9;             ///< weight of earlier losses in the moving average
  double diverged = 4;  ///< the test ends when the average exceeds this multiple of its minimum
  static void describe(Schema<LearningRateOptions>& s);
};
/// The result of a learning rate range test (Smith, 2017).
struct CRESCENT_API LearningRateCurve {
  std::vector<double> rates, losses, averages;
  double suggestion = 0;  ///< the rate at which the average falls fastest; NaN when it never falls
  std::vector<std::string> lines;  ///< the result as text
};

}  // namespace crescent
