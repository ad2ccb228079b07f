// The table of ops that have a form in ONNX. A new op is a row; one that has none is decomposed by
// core, or refused.
#pragma once
#include <span>

#include "crescent/program/op_types.h"
#include "emitter.h"

namespace crescent::onnx {

struct Row {
  std::string_view op;
  void (*emit)(Emitter&, const Op&);
};

/// The row of an op from a function that writes it.
template <class T, void (*write)(Emitter&, const T&)>
constexpr Row row() {
  return {T::kName, [](Emitter& e, const Op& op) { write(e, static_cast<const T&>(op)); }};
}

std::span<const Row> elementwise_rows();
std::span<const Row> shape_rows();
std::span<const Row> window_rows();
std::span<const Row> recurrent_rows();

bool has_row(std::string_view op);
/// Writes the instruction that the emitter is at.
void emit(Emitter& emitter, const Op& op);

}  // namespace crescent::onnx
