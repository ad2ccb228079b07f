// Sliced: a region of a program that goes through the batch slice by slice, so that results of a
// slice are read while they are in the cache of the core that computed them, and results that only
// the region reads never go to memory.
#pragma once
#include <memory>
#include <optional>

#include "crescent/program/program.h"
#include "tiling/cut.h"

namespace crescent::cpu {

/// An op from the inputs of its body to the body's outputs, each with its role in `cut`. The body
/// computes one slice.
struct Sliced final : Op {
  std::shared_ptr<const Program> body;
  Cut cut;
  /// Rows: number of rows of a slice over which moments are computed.
  int64_t slices = 0, rows = 0;
  std::string what;  ///< labels of its ops

  std::string_view name() const override { return "sliced"; }
  TensorSpecs infer(std::span<const TensorSpec>) const override { return {}; }
  bool equals(const Op& other) const override { return this == &other; }
  size_t hash() const override { return std::hash<const void*>()(this); }
  std::string text() const override { return "sliced(" + what + ")"; }
  std::string label() const override { return what; }
};

/// The program with its profitable regions as Sliced ops; nothing when it has none.
std::optional<Program> by_slices(const Program& program);

}  // namespace crescent::cpu
