// The positions of the elements of patches in images: for patches with channels last, and for
// patches as columns (im2col).
#pragma once
#include <algorithm>

#include "crescent/program/array_op_types.h"

namespace crescent::operations {

/// The memory layout of images of known sizes and of their patches.
class PatchLayout {
 public:
  PatchLayout() = default;
  PatchLayout(const PatchGrid& grid, const Shape& images)
      : axis_count_(grid.size.size()), channels_(images[-1]) {
    image_size_ = channels_;
    for (size_t i = axis_count_; i-- > 0;) {
      const int64_t length = images[static_cast<int>(i) + 1], windows = grid.count(i, length);
      const int64_t padding =
          grid.same ? (windows - 1) * grid.strides[i] + grid.reach(i) - length : 0;
      axes_[i] = {length,          windows,          grid.size[i],
                  grid.strides[i], grid.dilation[i], std::max<int64_t>(padding, 0) / 2,
                  image_size_};
      image_size_ *= length;
    }
    elements_ = channels_ * grid.area();
    for (size_t i = 0; i < axis_count_; ++i) patch_positions_ *= axes_[i].windows;
    count_ = images[0] * patch_positions_, rows_ = images[0] * axes_[0].length;
  }
  int64_t count() const { return count_; }                  ///< the number of patches
  int64_t elements() const { return elements_; }            ///< the number of elements of a patch
  int64_t row_count() const { return rows_; }               ///< the number of rows of all images
  int64_t row_size() const { return axes_[0].index_size; }  ///< the number of elements of a row

  /// Copies patches [begin, end) of the images to the array of patches.
  template <class T>
  void copy(int64_t begin, int64_t end, const T* images, T* patches) const {
    int64_t window_index[kAxes], remaining = begin;
    for (size_t i = axis_count_; i-- > 0; remaining /= axes_[i].windows)
      window_index[i] = remaining % axes_[i].windows;
    const T* image = images + remaining * image_size_;
    T* to = patches + begin * elements_;
    for (int64_t number = begin; number < end; ++number) {
      int64_t starts[kAxes];
      for (size_t i = 0; i < axis_count_; ++i)
        starts[i] = window_index[i] * axes_[i].stride - axes_[i].padding;
      to = copy_from(0, starts, image, to);
      size_t i = axis_count_;
      while (i > 0 && ++window_index[i - 1] == axes_[i - 1].windows) window_index[--i] = 0;
      if (i == 0) image += image_size_;
    }
  }

  /// Computes row `number` of the images: adds up the elements that all patches have in this row.
  template <class T>
  void sum(int64_t number, const T* patches, T* images) const {
    const Axis& axis = axes_[0];
    T* row = images + number * axis.index_size;
    std::fill_n(row, axis.index_size, T());
    const int64_t image = number / axis.length, position = number % axis.length + axis.padding;
    for (int64_t k = 0; k < axis.size; ++k) {
      const int64_t start = position - k * axis.dilation;
      if (start >= 0 && start % axis.stride == 0 && start / axis.stride < axis.windows)
        add_to(1, image * axis.windows + start / axis.stride, k, patches, row);
    }
  }

 private:
  static constexpr size_t kAxes = Shape::kMaxRank;
  struct Axis {
    int64_t length;   ///< the size of the images along the axis
    int64_t windows;  ///< the number of patches along the axis
    int64_t size, stride, dilation;
    int64_t padding;     ///< the padding before the first element
    int64_t index_size;  ///< the number of elements for one index of the axis
  };

  /// Copies a patch along the axes from i on; returns the end of the memory that it has written.
  template <class T>
  T* copy_from(size_t i, const int64_t* starts, const T* from, T* to) const {
    if (i == axis_count_) return copy_run(from, channels_, to);
    const Axis& axis = axes_[i];
    const bool is_dense = i + 1 == axis_count_ && axis.dilation == 1;
    if (is_dense && starts[i] >= 0 && starts[i] + axis.size <= axis.length)
      return copy_run(from + starts[i] * channels_, axis.size * channels_, to);
    int64_t inner_size = channels_;
    for (size_t j = i + 1; j < axis_count_; ++j) inner_size *= axes_[j].size;
    for (int64_t k = 0, position = starts[i]; k < axis.size; ++k, position += axis.dilation) {
      if (position >= 0 && position < axis.length)
        to = copy_from(i + 1, starts, from + position * axis.index_size, to);
      else
        to = std::fill_n(to, inner_size, T());
    }
    return to;
  }

  /// Copies few elements by a loop, because a call of memcpy costs more.
  template <class T>
  static T* copy_run(const T* from, int64_t count, T* to) {
    constexpr int64_t kMaxLoopElements = 16;
    if (count > kMaxLoopElements) return std::copy_n(from, count, to);
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    return to + count;
  }

  /// Adds to a row the elements of all patches that cover it. Axes before axis i have been fixed;
  /// `window_index` and `element` are the indices of the patch and of the element in it, counted
  /// over these axes.
  template <class T>
  void add_to(size_t i, int64_t window_index, int64_t element, const T* patches, T* to) const {
    if (i == axis_count_) {
      const T* from = patches + window_index * elements_ + element * channels_;
      for (int64_t c = 0; c < channels_; ++c) to[c] = static_cast<T>(to[c] + from[c]);
      return;
    }
    const Axis& axis = axes_[i];
    for (int64_t p = 0; p < axis.windows; ++p)
      for (int64_t k = 0; k < axis.size; ++k) {
        const int64_t position = p * axis.stride + k * axis.dilation - axis.padding;
        if (position >= 0 && position < axis.length)
          add_to(i + 1, window_index * axis.windows + p, element * axis.size + k, patches,
                 to + position * axis.index_size);
      }
  }

  size_t axis_count_ = 0;
  Axis axes_[kAxes] = {};
  int64_t channels_ = 0, elements_ = 0, count_ = 0, rows_ = 0;
  int64_t image_size_ = 0;       ///< the number of elements of an image
  int64_t patch_positions_ = 1;  ///< the number of patches of an image
};

/// The memory layout of planes of images and of their patches as columns (im2col).
class ColumnLayout {
 public:
  ColumnLayout() = default;
  ColumnLayout(const PatchGrid& grid, const Shape& images)
      : grid_(grid),
        planes_(images[0] * images[1]),
        height_(images[2]),
        width_(images[3]),
        rows_(grid.count(0, height_)),
        columns_(grid.count(1, width_)) {}
  /// The number of rows of patches in all planes.
  int64_t count() const { return planes_ * rows_; }
  /// The number of elements of a row of patches.
  int64_t elements() const { return columns_ * grid_.area(); }

  /// Copies the elements of the patches in rows [begin, end).
  template <class T>
  void copy(int64_t begin, int64_t end, const T* images, T* columns) const {
    const int64_t windows = rows_ * columns_, area = grid_.area();
    for (int64_t number = begin; number < end; ++number) {
      const int64_t plane = number / rows_, row = number % rows_;
      const T* image = images + plane * height_ * width_;
      T* to = columns + plane * area * windows + row * columns_;
      for (int64_t y = 0; y < grid_.size[0]; ++y) {
        const T* line = image + (row * grid_.strides[0] + y * grid_.dilation[0]) * width_;
        for (int64_t x = 0; x < grid_.size[1]; ++x, to += windows)
          copy_strided(line + x * grid_.dilation[1], to);
      }
    }
  }

 private:
  template <class T>
  void copy_strided(const T* from, T* to) const {
    const int64_t stride = grid_.strides[1];
    if (stride == 1) {
      std::copy_n(from, columns_, to);
    } else {
      for (int64_t i = 0; i < columns_; ++i) to[i] = from[i * stride];
    }
  }
  PatchGrid grid_;
  int64_t planes_ = 0, height_ = 0, width_ = 0, rows_ = 0, columns_ = 0;
};

}  // namespace crescent::operations
