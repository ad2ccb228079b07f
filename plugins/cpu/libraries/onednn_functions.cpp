#include "libraries/onednn_functions.h"

namespace crescent::cpu {

const LateLibrary& onednn_library() {
  static const LateLibrary library(CRESCENT_ONEDNN_PATH);
  return library;
}

}  // namespace crescent::cpu
