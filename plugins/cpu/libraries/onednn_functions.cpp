#include "libraries/onednn_functions.h"

namespace crescent::cpu {

const LazyLibrary& onednn_library() {
  static const LazyLibrary library(CRESCENT_ONEDNN_PATH);
  return library;
}

}  // namespace crescent::cpu
