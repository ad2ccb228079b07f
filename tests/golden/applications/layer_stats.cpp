#include "golden/applications/layer_stats.h"

#include <cmath>

namespace crescent::golden {
namespace {

struct Stats {
  double mean, root_mean_square;
};

Stats stats_of(const Tensor& x) {
  const Tensor float64_x = ops::cast(x, DType::float64);
  return {ops::mean(float64_x).item(), std::sqrt(ops::mean(float64_x * float64_x).item())};
}

/// The tolerance allows for the rounding errors of hundreds of layers in float32.
bool are_near(const Stats& got, const Stats& wanted) {
  const double tolerance = 1e-4 * wanted.root_mean_square + 1e-6;
  return std::abs(got.mean - wanted.mean) <= tolerance &&
         std::abs(got.root_mean_square - wanted.root_mean_square) <= tolerance;
}

bool is_inside(const List& row) { return row[0].as_string().find('/') != std::string::npos; }

Symbol output_of(const Model& model, const List& row) {
  const LayerPtr layer = model.get_layer(row[0].as_string());
  const NodePtr node = layer->inbound_nodes().at(size_t(row[1].as_int()));
  return node->output_symbols(node).front();
}

}  // namespace

std::string first_difference(const Model& model, const Tensor& x, const List& recorded) {
  std::vector<const List*> rows;
  std::vector<Symbol> outputs;
  for (const Value& row : recorded) {
    if (is_inside(row.as_list())) continue;
    rows.push_back(&row.as_list());
    outputs.push_back(output_of(model, row.as_list()));
  }
  const Tensors got = Functional::make(model.inputs(), outputs)->predict({x});
  for (size_t i = 0; i < rows.size(); ++i) {
    const List& row = *rows[i];
    const Shape wanted_shape = Codec<Shape>::decode(row[2]),
                shape = got[i].shape().slice(1, got[i].shape().rank());
    const Stats wanted{row[3].as_float(), row[4].as_float()}, stats = stats_of(got[i]);
    if (shape == wanted_shape && are_near(stats, wanted)) continue;
    return concat(row[0].as_string(), ": shape ", shape, ", mean ", stats.mean,
                  ", root mean square ", stats.root_mean_square, " instead of ", wanted_shape, ", ",
                  wanted.mean, ", ", wanted.root_mean_square);
  }
  return "";
}

}  // namespace crescent::golden
