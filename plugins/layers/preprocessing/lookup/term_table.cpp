#include "term_table.h"

namespace crescent {

void fail_without_vocabulary() {
  fail("the layer has no vocabulary: pass the `vocabulary` argument, or call adapt() or ",
       "set_vocabulary() first");
}

void fail_unknown_terms(const List& terms) {
  fail("When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values ",
       Value(terms), ", consider setting `num_oov_indices=1`.");
}

}  // namespace crescent
