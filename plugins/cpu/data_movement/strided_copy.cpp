#include "data_movement/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "data_movement/grain.h"
#include "data_movement/row_loops.h"

namespace crescent::cpu {
namespace {

// side of the tiles of a transposition; the cache holds a tile of both arrays
constexpr int64_t kTileSide = 32;
// The longest line, in elements, for which run_short_lines() is used, and the number of such lines
// per block.
constexpr int64_t kMaxShortLength = 8, kLinesPerBlock = 1024;

/// Drops axes of size 1 and merges adjacent axes whose strides match in both arrays.
std::vector<StridedCopy::Axis> merge_axes(const std::vector<StridedCopy::Axis>& axes) {
  std::vector<StridedCopy::Axis> result;
  for (const auto& axis : axes) {
    if (axis.size == 1) continue;
    if (!result.empty() && result.back().source_stride == axis.source_stride * axis.size &&
        result.back().target_stride == axis.target_stride * axis.size) {
      result.back() = {result.back().size * axis.size, axis.source_stride, axis.target_stride};
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

}  // namespace

StridedCopy::StridedCopy(std::vector<Axis> axes, size_t bytes) : element_bytes_(bytes) {
  is_empty_ = std::any_of(axes.begin(), axes.end(), [](const Axis& a) { return a.size == 0; });
  outer_axes_ = merge_axes(axes);
  if (is_empty_ || outer_axes_.empty()) return;
  inner_axis_ = outer_axes_.back();
  outer_axes_.pop_back();
  auto reads_contiguously = [](const Axis& a) { return a.source_stride == 1; };
  if (std::abs(inner_axis_.source_stride) > 1) {
    if (auto it = std::find_if(outer_axes_.begin(), outer_axes_.end(), reads_contiguously);
        it != outer_axes_.end()) {
      transposed_axis_ = *it;
      outer_axes_.erase(it);
    }
  }
  for (const Axis& axis : outer_axes_) line_count_ *= axis.size;
}

/// Calls f(from, to, count) for the lines [begin, end). Lines are numbered by the indices of the
/// outer axes; a call covers `count` lines along the last outer axis.
template <class T, class F>
static void for_runs(const std::vector<StridedCopy::Axis>& axes, const T* from, T* to,
                     int64_t begin, int64_t end, F&& f) {
  if (axes.empty()) return f(from, to, int64_t{1});
  const StridedCopy::Axis& last_axis = axes.back();
  for (int64_t line = begin; line < end;) {
    const int64_t first_index = line % last_axis.size,
                  count = std::min(last_axis.size - first_index, end - line);
    int64_t remaining_index = line / last_axis.size,
            source_offset = first_index * last_axis.source_stride,
            target_offset = first_index * last_axis.target_stride;
    for (size_t i = axes.size() - 1; i-- > 0;) {
      const int64_t index = remaining_index % axes[i].size;
      remaining_index /= axes[i].size;
      source_offset += index * axes[i].source_stride;
      target_offset += index * axes[i].target_stride;
    }
    f(from + source_offset, to + target_offset, count);
    line += count;
  }
}

template <class T>
static void copy_line(const StridedCopy::Axis& axis, const T* from, T* to) {
  if (axis.source_stride == 1 && axis.target_stride == 1) {
    std::memcpy(to, from, axis.size * sizeof(T));
  } else if (axis.source_stride == 0 && axis.target_stride == 1) {
    std::fill_n(to, axis.size, *from);
  } else if (axis.source_stride == -1 && axis.target_stride == 1) {
    reverse_loop(sizeof(T))(from, axis.size, to);
  } else {
    for (int64_t i = 0; i < axis.size; ++i)
      to[i * axis.target_stride] = from[i * axis.source_stride];
  }
}

/// Copies `count` lines along the axis `inner_axis`, which follow one another along the axis
/// `last_axis`.
template <class T>
static void copy_run(const StridedCopy::Axis& last_axis, const StridedCopy::Axis& inner_axis,
                     const T* from, T* to, int64_t count) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  const auto* source = reinterpret_cast<const std::byte*>(from);
  auto* target = reinterpret_cast<std::byte*>(to);
  const bool is_contiguous =
      inner_axis.target_stride == 1 && last_axis.target_stride == inner_axis.size;
  if (is_contiguous && inner_axis.source_stride == 0) {
    repeat_loop(sizeof(T))(from, last_axis.source_stride, count, inner_axis.size, to);
  } else if (is_contiguous && inner_axis.source_stride == 1 && last_axis.source_stride == 0) {
    repeat_row(source, inner_axis.size * kBytes, count, target);
  } else if (inner_axis.source_stride == 1 && inner_axis.target_stride == 1) {
    copy_rows(source, last_axis.source_stride * kBytes, target, last_axis.target_stride * kBytes,
              inner_axis.size * kBytes, count);
  } else {
    for (int64_t i = 0; i < count; ++i)
      copy_line(inner_axis, from + i * last_axis.source_stride, to + i * last_axis.target_stride);
  }
}

template <class T>
void StridedCopy::run_lines(const T* from, T* to, int64_t begin, int64_t end) const {
  for_runs(outer_axes_, from, to, begin, end, [&](const T* source, T* target, int64_t count) {
    copy_run(outer_axes_.back(), inner_axis_, source, target, count);
  });
}

/// Transposes if the lines of the source are short, such as pixels: a block of lines stays in the
/// cache while all of its elements are copied.
template <class T>
void StridedCopy::run_short_lines(const T* from, T* to, int64_t begin, int64_t end) const {
  const int64_t blocks_per_line = pieces(inner_axis_.size, kLinesPerBlock);
  for (int64_t block_index = begin; block_index < end; ++block_index) {
    const int64_t first = block_index % blocks_per_line * kLinesPerBlock,
                  line = block_index / blocks_per_line,
                  last = std::min(first + kLinesPerBlock, inner_axis_.size);
    for_runs(outer_axes_, from, to, line, line + 1, [&](const T* source, T* target, int64_t) {
      for (int64_t i = 0; i < transposed_axis_.size;
           ++i, ++source, target += transposed_axis_.target_stride)
        for (int64_t j = first; j < last; ++j)
          target[j * inner_axis_.target_stride] = source[j * inner_axis_.source_stride];
    });
  }
}

/// Prefetches the part of a line that the next tile reads or writes: the hardware prefetcher can
/// only follow few lines at once.
template <class T>
static void prefetch_tile_part(const T* line) {
  constexpr size_t kCacheLine = 64;
  const auto* bytes = reinterpret_cast<const char*>(line);
  for (size_t i = 0; i < kTileSide * sizeof(T); i += kCacheLine) __builtin_prefetch(bytes + i);
}

/// Transposes units [begin, end) of the array tile by tile. A unit has kTileSide indices of
/// `transposed_axis_`, all indices of `inner_axis_` and one index of every other axis.
template <class T>
void StridedCopy::run_tiles(const T* from, T* to, int64_t begin, int64_t end) const {
  const int64_t tiles = (transposed_axis_.size + kTileSide - 1) / kTileSide;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t first = unit % tiles * kTileSide,
                  last = std::min(first + kTileSide, transposed_axis_.size);
    const int64_t line = unit / tiles;
    for_runs(outer_axes_, from, to, line, line + 1, [&](const T* source, T* target, int64_t) {
      // a copy of the tile, so that both reads and writes of the arrays are contiguous
      T tile[kTileSide][kTileSide + 1];
      for (int64_t block = 0; block < inner_axis_.size; block += kTileSide) {
        const int64_t n = std::min(kTileSide, inner_axis_.size - block);
        const bool has_next_block = block + kTileSide < inner_axis_.size;
        for (int64_t j = 0; j < n; ++j) {
          const T* line = source + (block + j) * inner_axis_.source_stride;
          if (has_next_block)
            prefetch_tile_part(line + kTileSide * inner_axis_.source_stride + first);
          std::copy(line + first, line + last, tile[j]);
        }
        for (int64_t i = first; i < last; ++i) {
          T* to_line =
              target + i * transposed_axis_.target_stride + block * inner_axis_.target_stride;
          if (has_next_block) prefetch_tile_part(to_line + kTileSide * inner_axis_.target_stride);
          for (int64_t j = 0; j < n; ++j)
            to_line[j * inner_axis_.target_stride] = tile[j][i - first];
        }
      }
    });
  }
}

template <class T>
void StridedCopy::run_typed(const std::byte* source, std::byte* target, CpuThreads& threads) const {
  const T* from = reinterpret_cast<const T*>(source);
  T* to = reinterpret_cast<T*>(target);
  if (transposed_axis_.size > 1 && transposed_axis_.size <= kMaxShortLength) {
    threads.blocks(line_count_ * pieces(inner_axis_.size, kLinesPerBlock), 4,
                   [&](int64_t begin, int64_t end) { run_short_lines(from, to, begin, end); });
  } else if (transposed_axis_.size > 1) {
    const int64_t tiles = (transposed_axis_.size + kTileSide - 1) / kTileSide * line_count_;
    const int64_t tiles_per_task = std::max<int64_t>(
        1, kMinTaskElements / (inner_axis_.size * std::min(kTileSide, transposed_axis_.size)));
    threads.blocks(tiles, tiles_per_task,
                   [&](int64_t begin, int64_t end) { run_tiles(from, to, begin, end); });
  } else if (line_count_ == 1) {
    threads.blocks(inner_axis_.size, 4 * kMinTaskElements, [&](int64_t begin, int64_t end) {
      copy_line({end - begin, inner_axis_.source_stride, inner_axis_.target_stride},
                from + begin * inner_axis_.source_stride, to + begin * inner_axis_.target_stride);
    });
  } else {
    const int64_t lines_per_task = std::max<int64_t>(1, kMinTaskElements / inner_axis_.size);
    threads.blocks(line_count_, lines_per_task,
                   [&](int64_t begin, int64_t end) { run_lines(from, to, begin, end); });
  }
}

void StridedCopy::run(const std::byte* from, std::byte* to, CpuThreads& threads) const {
  if (is_empty_) return;
  switch (element_bytes_) {
    case 1:
      return run_typed<uint8_t>(from, to, threads);
    case 2:
      return run_typed<uint16_t>(from, to, threads);
    case 4:
      return run_typed<uint32_t>(from, to, threads);
    default:
      return run_typed<uint64_t>(from, to, threads);
  }
}

}  // namespace crescent::cpu
