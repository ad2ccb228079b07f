// Operand: a matrix of a product on AMX tiles, and functions that pack parts of it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kernel/kernel.h"
#include "matmul/amx.h"
#include "threads/pool.h"

namespace crescent::cpu {

/// Calls f(values), where `values` is `memory` as a pointer to the C++ type of `dtype`.
template <class Byte, class F>
void as_values(DType dtype, Byte* memory, F&& f) {
  using Half = std::conditional_t<std::is_const_v<Byte>, const uint16_t, uint16_t>;
  using Single = std::conditional_t<std::is_const_v<Byte>, const float, float>;
  dtype == DType::float32 ? f(reinterpret_cast<Single*>(memory))
                          : f(reinterpret_cast<Half*>(memory));
}

/// Packed strips of a block. If the block has fewer strips than a multiplication needs, the last
/// one is used several times.
struct Strips {
  const uint16_t* first;
  int64_t stride, count;
  const uint16_t* operator[](int64_t i) const { return first + std::min(i, count - 1) * stride; }
};

/// An operand of a matrix product; its lines are the rows of a or the columns of b.
struct Operand {
  DType dtype;
  amx::Form form;
  bool is_left, in_rows;  ///< in_rows: whether a line is contiguous in memory
  int64_t lines, depth;
  std::span<const int64_t> item_offsets;  ///< the offset of the matrix of each product of a batch

  int64_t ld() const { return in_rows ? depth : lines; }
  /// The number of values of one packed matrix.
  int64_t values() const { return pieces(lines, amx::kLines) * strip_size(depth); }
  int64_t strip_size(int64_t k_count) const { return amx::strip_values(k_count, form); }
  /// The offset of value k in a strip; k must be the first value of a step.
  int64_t offset(int64_t k) const { return k * amx::kLines * amx::parts(form); }

  /// Packs values [k, k + k_count) of `count` lines into strips that are `stride` values apart.
  void pack(const std::byte* memory, int64_t item, int64_t line, int64_t count, int64_t k,
            int64_t k_count, uint16_t* to, int64_t stride) const {
    const auto order = in_rows ? amx::LineOrder::lines_in_rows : amx::LineOrder::lines_in_columns;
    as_values(dtype, memory, [&](auto* from) {
      from += item_offsets[item] + (in_rows ? line * depth + k : k * lines + line);
      is_left ? amx::pack_left(from, ld(), order, count, k_count, to, stride, form)
              : amx::pack_right(from, ld(), order, count, k_count, to, stride, form);
    });
  }

  /// The number of parts in which the whole operand is packed; within a part memory is read in
  /// order.
  int64_t packing_parts() const {
    return static_cast<int64_t>(item_offsets.size()) * parts_of_item();
  }
  void pack_part(const std::byte* memory, int64_t part, uint16_t* to) const {
    const int64_t item = part / parts_of_item(), first = part % parts_of_item() * amx::kBlock,
                  stride = strip_size(depth);
    to += item * values();
    if (in_rows)
      return pack(memory, item, first, std::min(amx::kBlock, lines - first), 0, depth,
                  to + first / amx::kLines * stride, stride);
    pack(memory, item, 0, lines, first, std::min(amx::kBlock, depth - first), to + offset(first),
         stride);
  }

  /// Returns the strips of `count` lines from `line` on with values [k, k + k_count): from
  /// `packed_operand` if the whole operand is packed there, otherwise they are packed into
  /// `scratch`.
  Strips strips(const std::byte* memory, const uint16_t* packed_operand, uint16_t* scratch,
                int64_t item, int64_t line, int64_t count, int64_t k, int64_t k_count) const {
    const int64_t stride = strip_size(packed_operand ? depth : k_count),
                  strips = pieces(count, amx::kLines);
    if (packed_operand)
      return {packed_operand + item * values() + line / amx::kLines * stride + offset(k), stride,
              strips};
    pack(memory, item, line, count, k, k_count, scratch, stride);
    return {scratch, stride, strips};
  }

 private:
  int64_t parts_of_item() const { return pieces(in_rows ? lines : depth, amx::kBlock); }
};

/// Packs b of a product once, for all runs until b changes.
class PackRight final : public Kernel {
 public:
  explicit PackRight(const Operand& b)
      : b_(b), item_offsets_(b.item_offsets.begin(), b.item_offsets.end()) {
    b_.item_offsets = item_offsets_;
  }

  void run(const Arguments& a) const override {
    a.threads.parallel(b_.packing_parts(), [&](int64_t part, int) {
      b_.pack_part(a.inputs[0], part, a.out<uint16_t>(0));
    });
  }
  std::string name() const override { return amx::name(); }

 private:
  Operand b_;
  std::vector<int64_t> item_offsets_;
};

}  // namespace crescent::cpu
