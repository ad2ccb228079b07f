// gradient_norms: the norms of weights and gradients on one batch.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/text_table.h"
#include "crescent/system/terminal.h"
#include "training/metrics_scope.h"
#include "training/pass.h"
#include "training/watch/statistics.h"
#include "training/watch/step_watch.h"

namespace crescent {
namespace {

constexpr int64_t kNormsLineLength = 100, kMinNormsLineLength = 40;

double norm_of(const Tensor& t) {
  double square_sum = 0;
  for (double x : t.to_vector()) square_sum += x * x;
  return std::sqrt(square_sum);
}

/// Computes the norms when a training step, which runs op by op, reports its loss and its
/// gradients.
class NormObserver final : public UpdateObserver {
 public:
  void on_loss(const Tensor& loss) override { norms.loss = ops::mean(loss).item(); }
  void on_gradients(Tensors& gradients, const Variables& variables) override {
    for (size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i]) record_norms(variables[i], gradients[i]);
  }
  GradientNorms norms;

 private:
  void record_norms(const Variable& variable, const Tensor& gradient) {
    const GradientNorm norm{variable.path(), norm_of(gradient), norm_of(variable.value())};
    norms.weights.push_back(norm);
    GradientNorm& layer_norm = norm_of_layer(layer_of_weight(variable));
    layer_norm.gradient = std::hypot(layer_norm.gradient, norm.gradient);
    layer_norm.weight = std::hypot(layer_norm.weight, norm.weight);
  }
  GradientNorm& norm_of_layer(const std::string& name) {
    for (GradientNorm& layer_norm : norms.layers)
      if (layer_norm.name == name) return layer_norm;
    return norms.layers.emplace_back(GradientNorm{name});
  }
};

void add_table(std::vector<std::string>& lines, const char* title,
               const std::vector<GradientNorm>& norms, size_t length) {
  TextTable table({{title}, {"Gradient", true}, {"Weight", true}, {"Ratio", true}});
  for (const GradientNorm& norm : norms)
    table.add({norm.name, short_number(norm.gradient), short_number(norm.weight),
               short_number(norm.ratio())});
  for (std::string& line : table.lines(length)) lines.push_back(std::move(line));
}

}  // namespace

GradientNorms Model::gradient_norms(const Tensors& x, const Tensors& y, const Dict& option_values) {
  const MetricsScope metrics_scope(*this, "gradient_norms");
  const GradientNormsOptions options = parse<GradientNormsOptions>("gradient_norms", option_values);
  check_compiled(*this);
  const Arrays arrays = checked_arrays(*this, x, y, options.sample_weight);
  const int64_t batch_size =
      std::min(options.batch_size.value_or(batch_size_for(*this, {})), arrays.samples());
  const Arrays batch = rows(arrays, 0, batch_size);
  NormObserver observer;
  Stepper(*this).run_and_restore({batch.x, batch.y, batch.weights});
  GradientNorms norms = std::move(observer.norms);
  const auto length = static_cast<size_t>(
      options.line_length.value_or(fitting_columns(kNormsLineLength, kMinNormsLineLength)));
  norms.lines = {concat("Model: \"", on_one_line(name()), "\", loss ", short_number(norms.loss))};
  add_table(norms.lines, "Layer", norms.layers, length);
  add_table(norms.lines, "Weight", norms.weights, length);
  return norms;
}

}  // namespace crescent
