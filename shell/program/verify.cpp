#include <cmath>

#include "crescent/io/format.h"
#include "crescent/ops/ops.h"
#include "crescent/program/gradient.h"
#include "file_commands.h"
#include "sample_data.h"

namespace crescent::program {
namespace {

constexpr double kRelativeTolerance = 1e-5, kAbsoluteTolerance = 1e-6, kTrainedTolerance = 1e-4;

/// The comparison of two tensors: the largest difference, and whether all differences are within
/// the tolerance.
struct Difference {
  double largest = 0;
  bool is_within_tolerance = true;
};

Difference difference(const Tensor& a, const Tensor& b, double relative_tolerance) {
  if (a.spec().shape != b.spec().shape) return {INFINITY, false};
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  Difference result;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double distance = std::abs(x[i] - y[i]);
    result.is_within_tolerance &=
        distance <=
        kAbsoluteTolerance + relative_tolerance * std::max(std::abs(x[i]), std::abs(y[i]));
    if (!(distance <= result.largest)) result.largest = distance;
  }
  return result;
}

/// Compares pairs of tensors, and remembers the first pair that differs.
class Comparison {
 public:
  explicit Comparison(double tolerance = kRelativeTolerance) : relative_tolerance_(tolerance) {}
  void add(const std::string& name, const Tensor& a, const Tensor& b) {
    if (!a && !b) return;
    const Difference result =
        a && b ? difference(a, b, relative_tolerance_) : Difference{INFINITY, false};
    largest_difference_ = std::max(largest_difference_, result.largest);
    ++pair_count_;
    if (!result.is_within_tolerance && first_difference_.empty())
      first_difference_ = concat(name, " ", a ? to_text(a.shape()) : "(none)", " and ",
                                 b ? to_text(b.shape()) : "(none)", ", off by ", result.largest);
  }
  /// Prints a line with the result of the comparison; returns whether all pairs are the same.
  bool report(const std::string& title) const {
    print(concat(title, ": ",
                 first_difference_.empty()
                     ? concat("same (", pair_count_, " arrays, off by ", largest_difference_, ")")
                     : concat("DIFFERENT, first in ", first_difference_),
                 "\n"));
    return first_difference_.empty();
  }

 private:
  template <class T>
  static std::string to_text(const T& value) {
    return concat(value);
  }
  double relative_tolerance_, largest_difference_ = 0;
  size_t pair_count_ = 0;
  std::string first_difference_;
};

/// The corresponding layers of two models as pairs; fails if their numbers or classes differ.
std::vector<std::pair<LayerPtr, LayerPtr>> pairs_of(Model& a, Model& b) {
  const std::vector<LayerPtr> x = a.operations(), y = b.operations();
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    if (x[i]->class_name() != y[i]->class_name())
      fail("the models differ in layer ", i + 1, ": ", x[i]->class_name(), " '", x[i]->name(),
           "' and ", y[i]->class_name(), " '", y[i]->name(), "'");
  if (x.size() != y.size()) fail("the models have ", x.size(), " and ", y.size(), " layers");
  std::vector<std::pair<LayerPtr, LayerPtr>> pairs;
  for (size_t i = 0; i < x.size(); ++i) pairs.emplace_back(x[i], y[i]);
  return pairs;
}

using LayerPairs = std::vector<std::pair<LayerPtr, LayerPtr>>;

std::string text_of_layer(const Layer& layer) {
  return concat("layer '", layer.name(), "' (", layer.class_name(), ")");
}

bool compare_weights(const LayerPairs& pairs, const std::string& title, double relative_tolerance) {
  Comparison comparison(relative_tolerance);
  for (const auto& [x, y] : pairs) {
    const crescent::Variables a = x->weights(), b = y->weights();
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i)
      comparison.add(concat(text_of_layer(*x), i < a.size() ? ", " + a[i].name() : ""),
                     i < a.size() ? a[i].value() : Tensor(),
                     i < b.size() ? b[i].value() : Tensor());
  }
  return comparison.report(title);
}

/// Copies the states of the random generators, so that layers such as Dropout draw the same numbers
/// in both models.
void copy_random_states(Model& from, Model& to) {
  const std::vector<Layer*> a = from.flatten_layers(), b = to.flatten_layers();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    for (size_t k = 0; k < std::min(a[i]->seed_generators().size(), b[i]->seed_generators().size());
         ++k)
      b[i]->seed_generators()[k].state().assign(a[i]->seed_generators()[k].state().value().clone());
}

/// Compares the outputs of all layers for the inputs.
bool compare_values(Model& a, Model& b, const LayerPairs& pairs, const Tensors& x) {
  std::vector<std::string> names;
  std::vector<Symbol> outputs[2];
  for (const auto& [first_layer, second_layer] : pairs) {
    const auto first_nodes = first_layer->inbound_nodes(),
               second_nodes = second_layer->inbound_nodes();
    if (first_nodes.empty() || second_nodes.empty()) continue;
    const NodePtr p = first_nodes.back(), q = second_nodes.back();
    for (size_t i = 0; i < std::min(p->outputs.size(), q->outputs.size()); ++i) {
      names.push_back(text_of_layer(*first_layer));
      outputs[0].emplace_back(p, static_cast<int>(i)),
          outputs[1].emplace_back(q, static_cast<int>(i));
    }
  }
  const Tensors u = Functional::make(a.inputs(), outputs[0])->predict(x),
                v = Functional::make(b.inputs(), outputs[1])->predict(x);
  Comparison comparison;
  for (size_t i = 0; i < u.size(); ++i) comparison.add("the output of " + names[i], u[i], v[i]);
  return comparison.report("values");
}

Tensors gradients_of(Model& model, const Tensors& x, const crescent::Variables& variables) {
  GradientTape tape;
  Tensor loss;
  for (const Tensor& output : model(x)) {
    const Tensor output_loss = ops::mean(ops::square(ops::cast(output, DType::float32)));
    loss = loss ? loss + output_loss : output_loss;
  }
  return tape.gradient(loss, variables);
}

bool compare_gradients(Model& a, Model& b, const Tensors& x) {
  const crescent::Variables p = a.trainable_weights(), q = b.trainable_weights();
  if (p.size() != q.size()) fail("the models train ", p.size(), " and ", q.size(), " weights");
  const Tensors u = gradients_of(a, x, p), v = gradients_of(b, x, q);
  Comparison comparison(kTrainedTolerance);
  for (size_t i = 0; i < p.size(); ++i)
    comparison.add(concat("the gradient of '", p[i].path(), "'"), u[i], v[i]);
  return comparison.report("gradients");
}

bool compare_step(Model& a, Model& b, const LayerPairs& pairs, const Tensors& x) {
  if (!a.compiled() || !b.compiled()) {
    print("training: not compared, as they are not both compiled\n");
    return a.compiled() == b.compiled();
  }
  const Tensors y = targets_for(a, x);
  copy_random_states(a, b);
  const NamedValues p = a.train_on_batch(x, y), q = b.train_on_batch(x, y);
  const double loss_difference = std::abs(p.front().second - q.front().second);
  const bool are_same = loss_difference <= kTrainedTolerance * (1 + std::abs(p.front().second));
  print(concat("loss of a step: ", are_same ? "same" : "DIFFERENT", " (", p.front().second, " and ",
               q.front().second, ")\n"));
  return compare_weights(pairs, "weights after a step", kTrainedTolerance) && are_same;
}

}  // namespace

int verify(const std::vector<std::string>& arguments) {
  const FileArguments command_line(arguments, "verify", 2, {});
  const ModelPtr a = load_model(command_line.paths[0]), b = load_model(command_line.paths[1]);
  const LayerPairs pairs = pairs_of(*a, *b);
  bool are_same = compare_weights(pairs, "weights", kRelativeTolerance);
  if (a->is_graph() && b->is_graph()) {
    const Tensors x = inputs_for(*a);
    are_same = compare_values(*a, *b, pairs, x) && are_same;
    are_same = compare_gradients(*a, *b, x) && are_same;
    are_same = compare_step(*a, *b, pairs, x) && are_same;
  } else {
    print("values, gradients, training: not compared, as the shape of the inputs is not known\n");
  }
  print(are_same ? "the same\n" : "NOT the same\n");
  return are_same ? 0 : 1;
}

}  // namespace crescent::program
