#include "crescent/layer/loss.h"

namespace crescent {
namespace {

/// Makes the ranks equal. `longer_tensor` has one axis more than `shorter_tensor`: a last axis of
/// size 1.
void equalize(Tensor& longer_tensor, Tensor& shorter_tensor) {
  if (shorter_tensor.rank() == 1) {
    shorter_tensor = ops::expand_dims(shorter_tensor, -1);
  } else {
    longer_tensor = ops::squeeze(longer_tensor, longer_tensor.rank() - 1);
  }
}

}  // namespace

void match_ranks(Tensor& a, Tensor& b) {
  if (a.rank() == b.rank() + 1 && a.dim(-1) == 1)
    equalize(a, b);
  else if (b.rank() == a.rank() + 1 && b.dim(-1) == 1)
    equalize(b, a);
}

}  // namespace crescent
