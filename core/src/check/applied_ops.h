// The ops that functions apply, found by recording the functions.
#pragma once
#include <functional>

#include "crescent/program/op.h"

namespace crescent::check {

/// An op, and the specs of its inputs and outputs in one of its applications.
struct AppliedOp {
  OpPtr op;
  TensorSpecs input_specs, output_specs;
};

using TensorFunction = std::function<Tensors(const Tensors&)>;

/// The ops that f applies to tensors with the specs of `inputs`; none if f cannot be recorded.
std::vector<AppliedOp> applied_ops(const TensorFunction& f, const Tensors& inputs);

/// A function that returns the results of f and their gradients with respect to the inputs and
/// these variables.
TensorFunction with_gradients(const TensorFunction& f, const Variables& variables = {});

/// Adds to `collected_ops` the ops that f and its gradients apply; applications of equal ops to
/// inputs of equal specs are added once.
void collect_applied_ops(std::vector<AppliedOp>& collected_ops, const TensorFunction& f,
                         const Tensors& inputs, const Variables& variables = {});

}  // namespace crescent::check
