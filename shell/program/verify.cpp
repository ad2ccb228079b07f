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

Difference difference(const Tensor& a, const Tensor& b, double relative) {
  if (a.spec().shape != b.spec().shape) return {INFINITY, false};
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  Difference result;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double off = std::abs(x[i] - y[i]);
    result.is_within_tolerance &=
        off <= kAbsoluteTolerance + relative * std::max(std::abs(x[i]), std::abs(y[i]));
    if (!(off <= result.largest)) result.largest = off;
  }
  return result;
}

/// Compares pairs of tensors, and remembers the first pair that differs.
class Comparison {
 public:
  explicit Comparison(double relative = kRelativeTolerance) : relative_(relative) {}
  void add(const std::string& what, const Tensor& a, const Tensor& b) {
    if (!a && !b) return;
    const Difference found = a && b ? difference(a, b, relative_) : Difference{INFINITY, false};
    largest_ = std::max(largest_, found.largest);
    ++count_;
    if (!found.is_within_tolerance && first_difference_.empty())
      first_difference_ = concat(what, " ", a ? to_text(a.shape()) : "(none)", " and ",
                                 b ? to_text(b.shape()) : "(none)", ", off by ", found.largest);
  }
  /// Prints a line with the result of the comparison; returns whether all pairs are the same.
  bool report(const std::string& title) const {
    print(concat(title, ": ",
                 first_difference_.empty()
                     ? concat("same (", count_, " arrays, off by ", largest_, ")")
                     : concat("DIFFERENT, first in ", first_difference_),
                 "\n"));
    return first_difference_.empty();
  }

 private:
  template <class T>
  static std::string to_text(const T& value) {
    return concat(value);
  }
  double relative_, largest_ = 0;
  size_t count_ = 0;
  std::string first_difference_;
};

/// The corresponding layers of two models as pairs; fails if their numbers or classes differ.
std::vector<std::pair<LayerPtr, LayerPtr>> pairs_of(Model& a, Model& b) {
  const std::vector<LayerPtr> x = a.layers(), y = b.layers();
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    if (x[i]->class_name() != y[i]->class_name())
      fail("the models differ in layer ", i + 1, ": ", x[i]->class_name(), " '", x[i]->name(),
           "' and ", y[i]->class_name(), " '", y[i]->name(), "'");
  if (x.size() != y.size()) fail("the models have ", x.size(), " and ", y.size(), " layers");
  std::vector<std::pair<LayerPtr, LayerPtr>> pairs;
  for (size_t i = 0; i < x.size(); ++i) pairs.emplace_back(x[i], y[i]);
  return pairs;
}

using Pairs = std::vector<std::pair<LayerPtr, LayerPtr>>;

std::string named(const Layer& layer) {
  return concat("layer '", layer.name(), "' (", layer.class_name(), ")");
}

bool same_weights(const Pairs& pairs, const std::string& title, double relative) {
  Comparison comparison(relative);
  for (const auto& [x, y] : pairs) {
    const crescent::Variables a = x->weights(), b = y->weights();
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i)
      comparison.add(concat(named(*x), i < a.size() ? ", " + a[i].name() : ""),
                     i < a.size() ? a[i].value() : Tensor(),
                     i < b.size() ? b[i].value() : Tensor());
  }
  return comparison.report(title);
}

/// Copies the states of the random generators, so that layers such as Dropout draw the same numbers
/// in both models.
void share_seeds(Model& from, Model& to) {
  const std::vector<Layer*> a = from.flatten_layers(), b = to.flatten_layers();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    for (size_t k = 0; k < std::min(a[i]->seed_generators().size(), b[i]->seed_generators().size());
         ++k)
      b[i]->seed_generators()[k].state().assign(a[i]->seed_generators()[k].state().value().clone());
}

/// Compares the outputs of all layers for the inputs.
bool same_values(Model& a, Model& b, const Pairs& pairs, const Tensors& x) {
  std::vector<std::string> names;
  std::vector<Symbol> ends[2];
  for (const auto& [first, second] : pairs) {
    const auto here = first->inbound_nodes(), there = second->inbound_nodes();
    if (here.empty() || there.empty()) continue;
    const NodePtr p = here.back(), q = there.back();
    for (size_t i = 0; i < std::min(p->outputs.size(), q->outputs.size()); ++i) {
      names.push_back(named(*first));
      ends[0].emplace_back(p, static_cast<int>(i)), ends[1].emplace_back(q, static_cast<int>(i));
    }
  }
  const Tensors u = Functional::make(a.inputs(), ends[0])->predict(x),
                v = Functional::make(b.inputs(), ends[1])->predict(x);
  Comparison comparison;
  for (size_t i = 0; i < u.size(); ++i) comparison.add("the output of " + names[i], u[i], v[i]);
  return comparison.report("values");
}

Tensors gradients_of(Model& model, const Tensors& x, const crescent::Variables& variables) {
  GradientTape tape;
  Tensor loss;
  for (const Tensor& output : model(x)) {
    const Tensor part = ops::mean(ops::square(ops::cast(output, DType::float32)));
    loss = loss ? loss + part : part;
  }
  return tape.gradient(loss, variables);
}

bool same_gradients(Model& a, Model& b, const Tensors& x) {
  const crescent::Variables p = a.trainable_weights(), q = b.trainable_weights();
  if (p.size() != q.size()) fail("the models train ", p.size(), " and ", q.size(), " weights");
  const Tensors u = gradients_of(a, x, p), v = gradients_of(b, x, q);
  Comparison comparison(kTrainedTolerance);
  for (size_t i = 0; i < p.size(); ++i)
    comparison.add(concat("the gradient of '", p[i].path(), "'"), u[i], v[i]);
  return comparison.report("gradients");
}

bool same_step(Model& a, Model& b, const Pairs& pairs, const Tensors& x) {
  if (!a.compiled() || !b.compiled()) {
    print("training: not compared, as they are not both compiled\n");
    return a.compiled() == b.compiled();
  }
  const Tensors y = targets_for(a, x);
  share_seeds(a, b);
  const NamedValues p = a.train_on_batch(x, y), q = b.train_on_batch(x, y);
  const double off = std::abs(p.front().second - q.front().second);
  const bool same = off <= kTrainedTolerance * (1 + std::abs(p.front().second));
  print(concat("loss of a step: ", same ? "same" : "DIFFERENT", " (", p.front().second, " and ",
               q.front().second, ")\n"));
  return same_weights(pairs, "weights after a step", kTrainedTolerance) && same;
}

}  // namespace

int verify(const std::vector<std::string>& arguments) {
  const FileArguments given(arguments, "verify", 2, {});
  const ModelPtr a = load_model(given.paths[0]), b = load_model(given.paths[1]);
  const Pairs pairs = pairs_of(*a, *b);
  bool same = same_weights(pairs, "weights", kRelativeTolerance);
  if (a->is_graph() && b->is_graph()) {
    const Tensors x = inputs_for(*a);
    same = same_values(*a, *b, pairs, x) && same;
    same = same_gradients(*a, *b, x) && same;
    same = same_step(*a, *b, pairs, x) && same;
  } else {
    print("values, gradients, training: not compared, as the shape of the inputs is not known\n");
  }
  print(same ? "the same\n" : "NOT the same\n");
  return same ? 0 : 1;
}

}  // namespace crescent::program
