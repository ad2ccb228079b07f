#include "losses.h"

namespace crescent {

using namespace ops;

MatchedPair matched(const Loss& loss, const Tensor& y_true, const Tensor& y_pred) {
  MatchedPair pair{cast(y_true, y_pred.dtype()), y_pred};
  match_ranks(pair.truth, pair.prediction);
  if (!pair.truth.shape().compatible(pair.prediction.shape()))
    fail("A target array with shape ", y_true.shape(), " was passed for an output of shape ",
         y_pred.shape(), " while using as loss `", to_snake_case(loss.class_name()),
         "`. This loss expects targets to have the same shape as the output.");
  return pair;
}

Tensor class_numbers(const Loss& loss, const Tensor& y_true, const Tensor& y_pred) {
  Tensor labels = y_true;
  if (labels.rank() == y_pred.rank() && labels.dim(-1) == 1)
    labels = squeeze(labels, labels.rank() - 1);
  const Shape expected_shape = y_pred.shape().slice(0, -1);
  if (labels.rank() != y_pred.rank() - 1 || !labels.shape().compatible(expected_shape)) {
    const std::string name = to_snake_case(loss.class_name());
    fail(name, ": expected class numbers of shape ", expected_shape, " for predictions of shape ",
         y_pred.shape(), ", got ", y_true.shape(),
         name == "sparse_categorical_crossentropy"
             ? "; for one-hot targets use categorical_crossentropy"
             : "; argmax(-1) makes class numbers of one-hot targets");
  }
  return labels;
}

Tensor move_to_last_axis(const Tensor& x, int64_t axis) {
  const int old_axis = x.shape().axis(int(axis));
  if (old_axis == x.rank() - 1) return x;
  std::vector<int> axis_order;
  for (int i = 0; i < x.rank(); ++i)
    if (i != old_axis) axis_order.push_back(i);
  axis_order.push_back(old_axis);
  return transpose(x, axis_order);
}

}  // namespace crescent
