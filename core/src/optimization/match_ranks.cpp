#include "crescent/layer/loss.h"

namespace crescent {
namespace {

/// Makes the ranks equal. `longer` has one axis more than `shorter`: a last axis of size 1.
void equalize(Tensor& longer, Tensor& shorter) {
  if (shorter.rank() == 1) {
    shorter = ops::expand_dims(shorter, -1);
  } else {
    longer = ops::squeeze(longer, longer.rank() - 1);
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
