// The table of ops that can be written as ONNX nodes, each with an emitter: the function that
// writes these nodes. An op without an emitter is decomposed into other ops; if that is impossible,
// exporting fails.
#pragma once
#include <span>

#include "crescent/program/op_types.h"
#include "emitter.h"

namespace crescent::onnx {

struct OpEmitter {
  std::string_view op;
  void (*emit)(Emitter&, const Op&);
};

/// The row of the table for the op T, whose nodes the function `write` writes.
template <class T, void (*write)(Emitter&, const T&)>
constexpr OpEmitter emitter_of() {
  return {T::kName, [](Emitter& e, const Op& op) { write(e, static_cast<const T&>(op)); }};
}

std::span<const OpEmitter> elementwise_emitters();
std::span<const OpEmitter> shape_emitters();
std::span<const OpEmitter> window_emitters();
std::span<const OpEmitter> recurrent_emitters();

bool has_emitter(std::string_view op);
/// Writes the nodes of the emitter's current instruction, whose op is `op`.
void emit(Emitter& emitter, const Op& op);

}  // namespace crescent::onnx
