// The steps of lowering that have a file of their own.
#pragma once
#include "crescent/device/lowering.h"

namespace crescent::lowering {

/// Puts checks of what a program is given, with what they need, before everything else: so a run
/// that fails for what it was given has changed nothing.
void put_checks_first(Program& program);

/// Puts what may fail, with what it needs, before what makes new values of variables otherwise.
void put_failures_before_writes(Program& program);

/// The op as a HostCall; fails when nobody can compute it.
OpPtr leave_to_host(OpPtr op, const TensorSpecs& inputs, const TensorSpecs& outputs,
                    const Device& device);

/// For messages: "(float32(3,), int64())".
std::string text_of(const TensorSpecs& specs);

/// The executable of the program; where that has strings, their texts stay while it runs.
std::unique_ptr<Executable> keeping_strings(const Program& program,
                                            std::unique_ptr<Executable> executable);

}  // namespace crescent::lowering
