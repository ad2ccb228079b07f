#include "program/passes/passes.h"

namespace crescent {

Program optimize(Program program, const OptimizeOptions&) {
  passes::dead_code(program);
  return program;
}

}  // namespace crescent
