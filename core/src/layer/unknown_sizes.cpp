#include "layer/unknown_sizes.h"

#include <algorithm>

#include "layer/calls/outside_trace.h"
#include "program/large_results.h"

namespace crescent {
namespace {

// The numbers that replace unknown sizes. They rarely occur as sizes in models, and they are
// divisible by 2 to 8, 10, 12, 14, 15, 16 and 32, because layers split axes into equal parts.
constexpr int64_t kStandIns[] = {3360, 6720};
constexpr int64_t kSmallestSize = 1;
// the number that replaces unknown sizes on this thread; 0: none
thread_local int64_t stand_in_size = 0;

/// While an object of this class lives, `size` replaces unknown sizes on this thread.
class StandInScope {
 public:
  explicit StandInScope(int64_t size) : previous_size_(stand_in_size) { stand_in_size = size; }
  ~StandInScope() { stand_in_size = previous_size_; }
  StandInScope(const StandInScope&) = delete;

 private:
  int64_t previous_size_;
};

Shape with_size(Shape shape, int64_t replaced_size, int64_t size) {
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] == replaced_size) shape.set(axis, size);
  return shape;
}

Tensor with_size(const Tensor& example, int64_t size) {
  const Tensor tensor = Tensor::abstract({example.dtype(), with_size(example.shape(), -1, size)});
  return example.mask() ? tensor.with_mask(with_size(example.mask(), size)) : tensor;
}

bool needs_known_sizes(Layer& layer, const Tensors& examples) {
  const bool all_sizes_known = std::all_of(examples.begin(), examples.end(),
                                           [](const Tensor& t) { return t.shape().is_known(); });
  if (all_sizes_known) return false;
  const std::vector<Layer*> layers = layer.flatten_layers();
  return std::any_of(layers.begin(), layers.end(),
                     [](const Layer* nested_layer) { return nested_layer->computes_with_sizes(); });
}

Tensors run_with_size(int64_t size, const std::function<Tensors(const Tensors&)>& f,
                      const Tensors& examples) {
  const StandInScope stand_in_scope(size);
  const LargeResultsAbstract large_results_abstract(kStandIns[0]);
  Tensors sized_examples;
  for (const Tensor& t : examples) sized_examples.push_back(with_size(t, size));
  return run_abstractly(f, sized_examples);
}

/// An abstract tensor with the sizes that are equal in the shapes of a and b, and with -1 (unknown)
/// for the sizes that differ.
Tensor common_dims(const Tensor& a, const Tensor& b) {
  Shape shape = a.shape();
  if (shape.rank() != b.rank())
    fail("the rank of an output depends on a size that is not known: ", shape, " or ", b.shape());
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] != b.shape()[axis]) shape.set(axis, -1);
  const Tensor tensor = Tensor::abstract({a.dtype(), shape});
  return a.mask() && b.mask() ? tensor.with_mask(common_dims(a.mask(), b.mask())) : tensor;
}

Tensors common_dims(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size())
    fail("the number of outputs depends on a size that is not known: ", a.size(), " or ", b.size());
  Tensors tensors;
  for (size_t i = 0; i < a.size(); ++i) tensors.push_back(common_dims(a[i], b[i]));
  return tensors;
}

/// Runs f with two large numbers in place of the unknown sizes, and with the smallest size, because
/// some results agree for all large sizes but differ for small ones: bounds that are cut off at the
/// end of an axis, and sizes that are rounded up.
Tensors run_with_stand_ins(const std::function<Tensors(const Tensors&)>& f,
                           const Tensors& examples) {
  const Tensors results = common_dims(run_with_size(kStandIns[0], f, examples),
                                      run_with_size(kStandIns[1], f, examples));
  try {
    return common_dims(results, run_with_size(kSmallestSize, f, examples));
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    return results;  // f fails for axes of size 1
  }
}

}  // namespace

Tensors run_with_unknown_sizes(Layer& layer, const std::function<Tensors(const Tensors&)>& f,
                               const Tensors& examples) {
  if (!needs_known_sizes(layer, examples)) return run_abstractly(f, examples);
  try {
    return run_with_stand_ins(f, examples);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    // without replaced sizes, f works with the unknown sizes or fails with an error about them
    return run_abstractly(f, examples);
  }
}

std::vector<Shape> without_stand_ins(std::vector<Shape> shapes) {
  if (stand_in_size == 0) return shapes;
  for (Shape& shape : shapes) shape = with_size(shape, stand_in_size, -1);
  return shapes;
}

}  // namespace crescent
