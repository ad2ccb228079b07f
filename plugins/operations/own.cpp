// Operations of cr.ops that Keras does not have.
#include "crescent/ops/elementwise.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

Tensor all_reduce(const Tensor& x, const std::string& op) {
  std::vector<std::string> known_names;
  for (ReduceKind kind : {ReduceKind::sum, ReduceKind::mean, ReduceKind::max, ReduceKind::min}) {
    if (op == name_of(kind)) return ops::all_reduce(x, kind);
    known_names.emplace_back(name_of(kind));
  }
  fail("all_reduce: expected one of ", join(known_names), ", got '", op, "'",
       did_you_mean(op, known_names));
}

}  // namespace

CRESCENT_REGISTER(own) {
  Operations(registry, "crescent.operations")
      .add("AddN", "add_n(tensors)", &ops::add_n, "The sum of a list of tensors of the same shape.")
      .add("Flatten", "flatten(x)", &ops::flatten, "x with all axes but the first merged into one.")
      .add("SquaredDifference", "squared_difference(x1, x2)", &ops::squared_difference,
           "(x1 - x2)^2, element by element.")
      .add("SliceAxis", "slice_axis(x, axis, first, last, step=1)", &ops::slice_axis,
           "The elements from first to last - 1 of an axis, counted from 0.")
      .add("SoftmaxCrossEntropy", "softmax_cross_entropy(logits, labels)",
           &ops::softmax_cross_entropy, "The cross entropy of softmax(logits) for each row.")
      .add("SparseSoftmaxCrossEntropy", "sparse_softmax_cross_entropy(logits, labels)",
           &ops::sparse_softmax_cross_entropy, "The cross entropy of softmax(logits) for each row.")
      .add("AllReduce", "all_reduce(x, op='sum')", &all_reduce,
           "The sum, mean, maximum or minimum over all processes.");
}

}  // namespace crescent::operations
