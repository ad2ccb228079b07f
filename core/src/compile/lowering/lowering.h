// Steps of lower(), which rewrites a program for a device, and of compile().
#pragma once
#include "crescent/device/lowering.h"

namespace crescent::lowering {

/// Moves checks of the program's inputs, with the instructions that they depend on, to the front,
/// so that a run that fails on its inputs has changed nothing.
void put_checks_first(Program& program);

/// Moves all ops that may fail, with what they depend on, before the ops that compute new values of
/// variables.
void put_failures_before_writes(Program& program);

/// Wraps the op in a HostCall; fails when the host cannot compute it.
OpPtr leave_to_host(OpPtr op, const TensorSpecs& inputs, const TensorSpecs& outputs,
                    const Device& device);

/// Formats the specs for messages: "(float32(3,), int64())".
std::string text_of(const TensorSpecs& specs);

/// Calls Device::supports(); exceptions name the device and its plugin.
bool is_supported(const Device& device, const Op& op, const TensorSpecs& inputs,
                  const TensorSpecs& outputs);
/// Calls Device::compile(). Exceptions of that call and of later runs of the executable name the
/// device and, unless it is built in, its plugin.
std::unique_ptr<Executable> compile_lowered(const Program& lowered_program, Device& device);

/// Wraps the executable of a program with strings so that their texts stay alive while it runs;
/// returns the executable of a program without strings unchanged.
std::unique_ptr<Executable> keep_strings_alive(const Program& program,
                                               std::unique_ptr<Executable> executable);

}  // namespace crescent::lowering
