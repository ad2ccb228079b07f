#pragma once
#include "crescent/program/program.h"

namespace crescent {

/// A program of the op alone.
Program program_of_op(OpPtr op, const TensorSpecs& inputs, const TensorSpecs& outputs);

}  // namespace crescent
