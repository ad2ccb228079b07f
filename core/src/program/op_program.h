#pragma once
#include "crescent/program/program.h"

namespace crescent {

/// Makes a program that consists of this op.
Program program_of_op(OpPtr op, const TensorSpecs& inputs, const TensorSpecs& outputs);

}  // namespace crescent
