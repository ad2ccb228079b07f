// The kernel that copies an array and overwrites a slice of it.
#include <algorithm>
#include <cstring>

#include "crescent/device/cpu_kernel.h"
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

/// The lines of a slice along its last axis, and their positions in the array.
class PartLines {
 public:
  PartLines() = default;
  PartLines(const Shape& array, const Shape& part, const std::vector<int64_t>& start,
            size_t bytes) {
    auto step = static_cast<int64_t>(bytes);
    for (int i = array.rank(); i-- > 0; step *= array[i]) {
      begin_offset_ += start[i] * step;
      if (i == array.rank() - 1) continue;
      axes_[axis_count_++] = {part[i], step};
      lines_ *= part[i];
    }
    line_bytes_ = static_cast<int64_t>(bytes) * (part.rank() > 0 ? part[-1] : 1);
  }
  int64_t lines() const { return line_bytes_ > 0 ? lines_ : 0; }
  int64_t line_bytes() const { return line_bytes_; }  ///< the size of a line in bytes
  /// Copies lines [begin, end) of the slice to the array.
  void copy(int64_t begin, int64_t end, const std::byte* part, std::byte* array) const {
    for (int64_t line_index = begin; line_index < end; ++line_index) {
      int64_t remaining_index = line_index, offset = begin_offset_;
      for (size_t i = 0; i < axis_count_; remaining_index /= axes_[i].size, ++i)
        offset += remaining_index % axes_[i].size * axes_[i].step;
      std::memcpy(array + offset, part + line_index * line_bytes_, line_bytes_);
    }
  }

 private:
  struct Axis {
    int64_t size, step;
  };
  Axis axes_[Shape::kMaxRank] = {};  ///< the axes from the last but one to the first
  size_t axis_count_ = 0;
  int64_t begin_offset_ = 0, lines_ = 1, line_bytes_ = 0;
};

class PartUpdateKernel final : public CpuKernel {
 public:
  static void describe(Schema<PartUpdateKernel>& s) {
    s.doc("Runs on several threads, each with some lines.");
  }
  bool prepare(const CpuRequest& r) override {
    const size_t bytes = size_of(r.inputs[0].dtype);
    lines_ = PartLines(r.inputs[0].shape, r.inputs[1].shape, r.op_as<PartUpdate>()->start, bytes);
    array_bytes_ = r.inputs[0].shape.size() * static_cast<int64_t>(bytes);
    return true;
  }
  void run(const CpuArguments& a) override {
    constexpr int64_t kBlock = 65536;  // bytes per task
    if (a.inputs[0] != a.outputs[0])
      a.threads.blocks(array_bytes_, kBlock, [&](int64_t begin, int64_t end) {
        std::memcpy(a.outputs[0] + begin, a.inputs[0] + begin, end - begin);
      });
    a.threads.blocks(
        lines_.lines(), kBlock / std::max<int64_t>(lines_.line_bytes(), 1) + 1,
        [&](int64_t begin, int64_t end) { lines_.copy(begin, end, a.inputs[1], a.outputs[0]); });
  }
  bool in_place(int input) const override { return input == 0; }

 private:
  PartLines lines_;
  int64_t array_bytes_ = 0;
};

}  // namespace

CRESCENT_REGISTER(part_update_kernel) { registry.add<PartUpdateKernel>(PartUpdate::kName); }

}  // namespace crescent::operations
