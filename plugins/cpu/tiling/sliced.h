// A part of a program that goes through the batch slice by slice: what a slice makes is read while
// it is in the cache of the core that made it, and what nobody else reads never goes to memory.
#pragma once
#include <memory>
#include <optional>

#include "crescent/program/program.h"
#include "tiling/cut.h"

namespace crescent::cpu {

/// (inputs of the body...) -> its outputs, each in its part. The body computes one slice.
struct Sliced final : Op {
  std::shared_ptr<const Program> body;
  Cut cut;
  int64_t slices = 0, rows = 0;  ///< rows: of a slice that moments are of
  std::string what;              ///< labels of its ops

  std::string_view name() const override { return "sliced"; }
  TensorSpecs infer(std::span<const TensorSpec>) const override { return {}; }
  bool equals(const Op& other) const override { return this == &other; }
  size_t hash() const override { return std::hash<const void*>()(this); }
  std::string text() const override { return "sliced(" + what + ")"; }
  std::string label() const override { return what; }
};

/// The program with what gains by it in slices; nothing when nothing does.
std::optional<Program> by_slices(const Program& program);

}  // namespace crescent::cpu
