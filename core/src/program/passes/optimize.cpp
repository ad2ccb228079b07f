#include "program/passes/passes.h"

namespace crescent {

Program optimize(Program program, const OptimizeOptions&) {
  passes::remove_dead_code(program);
  return program;
}

}  // namespace crescent
