#include "patches.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "../host.h"
#include "crescent/cpu_kernel.h"

namespace crescent::operations {

size_t PatchGrid::hash() const {
  size_t seed = same;
  for (const auto* numbers : {&size, &strides, &dilation})
    detail::mix(seed, detail::hash_field(*numbers));
  return seed;
}

std::string to_text(const PatchGrid& grid) {
  return concat(detail::field_text(grid.size), " strides ", detail::field_text(grid.strides),
                " dilation ", detail::field_text(grid.dilation), grid.same ? " same" : " valid");
}

namespace {

constexpr int64_t kMostOfPatch = int64_t{1} << 31;

/// Elements that a patch reaches over along an axis.
int64_t reach(const PatchGrid& grid, size_t axis) {
  return (grid.size[axis] - 1) * grid.dilation[axis] + 1;
}

/// Patches along an axis of this length; -1 where it is not known.
int64_t patches_along(const PatchGrid& grid, size_t axis, int64_t length) {
  const int64_t stride = grid.strides[axis], free = length - reach(grid, axis);
  if (length < 0) return -1;
  return grid.same ? (length + stride - 1) / stride : free / stride + 1;
}

int64_t product(const std::vector<int64_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t{1}, std::multiplies<>());
}

void expect_numbers(const PatchGrid& grid, const Shape& images) {
  int64_t elements = 1;
  for (size_t i = 0; i < grid.size.size(); ++i) {
    for (const auto& [what, number] : {std::pair("size", grid.size[i]),
                                       {"stride", grid.strides[i]},
                                       {"dilation rate", grid.dilation[i]}})
      if (number < 1 || number >= kMostOfPatch)
        fail("patches: expected a ", what, " of at least 1, got ", number);
    elements *= grid.size[i];
    if (elements >= kMostOfPatch) fail("patches: ", Value(grid.size), " is too large");
  }
  if (images.rank() != static_cast<int>(grid.size.size()) + 2)
    fail("patches: expected ", grid.size.size(), " spatial axes, got shape ", images);
}

void expect_grid(const PatchGrid& grid, const Shape& images) {
  expect_numbers(grid, images);
  for (size_t i = 0; i < grid.size.size(); ++i) {
    const int64_t length = images[static_cast<int>(i) + 1];
    if (!grid.same && length >= 0 && length < reach(grid, i))
      fail("patches: ", to_text(grid), ": they are larger than the images of shape ", images,
           " along axis ", i + 1);
  }
}

/// Images of known sizes and their patches, as they lie in memory.
class PatchLayout {
 public:
  PatchLayout() = default;
  PatchLayout(const PatchGrid& grid, const Shape& images)
      : axes_(grid.size.size()), channels_(images[-1]) {
    inner_ = channels_;
    for (size_t i = axes_; i-- > 0;) {
      const int64_t length = images[static_cast<int>(i) + 1],
                    places = patches_along(grid, i, length);
      const int64_t beyond =
          grid.same ? (places - 1) * grid.strides[i] + reach(grid, i) - length : 0;
      axis_[i] = {length,          places,           grid.size[i],
                  grid.strides[i], grid.dilation[i], std::max<int64_t>(beyond, 0) / 2,
                  inner_};
      inner_ *= length;
    }
    elements_ = channels_ * product(grid.size);
    for (size_t i = 0; i < axes_; ++i) places_ *= axis_[i].places;
    count_ = images[0] * places_, rows_ = images[0] * axis_[0].length;
  }
  int64_t count() const { return count_; }        ///< patches
  int64_t elements() const { return elements_; }  ///< of each
  int64_t rows() const { return rows_; }          ///< of all images
  int64_t row() const { return axis_[0].inner; }  ///< elements of one

  /// Patches [begin, end) to their places.
  template <class T>
  void copy(int64_t begin, int64_t end, const T* images, T* patches) const {
    int64_t place[kAxes], rest = begin;
    for (size_t i = axes_; i-- > 0; rest /= axis_[i].places) place[i] = rest % axis_[i].places;
    const T* image = images + rest * inner_;
    T* to = patches + begin * elements_;
    for (int64_t number = begin; number < end; ++number) {
      int64_t starts[kAxes];
      for (size_t i = 0; i < axes_; ++i) starts[i] = place[i] * axis_[i].stride - axis_[i].before;
      to = copy_from(0, starts, image, to);
      size_t i = axes_;
      while (i > 0 && ++place[i - 1] == axis_[i - 1].places) place[--i] = 0;
      if (i == 0) image += inner_;
    }
  }

  /// What all patches have of a row of the images.
  template <class T>
  void sum(int64_t number, const T* patches, T* images) const {
    const Axis& axis = axis_[0];
    T* row = images + number * axis.inner;
    std::fill_n(row, axis.inner, T());
    const int64_t image = number / axis.length, at = number % axis.length + axis.before;
    for (int64_t k = 0; k < axis.size; ++k) {
      const int64_t start = at - k * axis.dilation;
      if (start >= 0 && start % axis.stride == 0 && start / axis.stride < axis.places)
        add_to(1, image * axis.places + start / axis.stride, k, patches, row);
    }
  }

 private:
  static constexpr size_t kAxes = Shape::kMaxRank;
  struct Axis {
    int64_t length, places, size, stride, dilation, before, inner;
  };

  /// Gives the end of what it wrote.
  template <class T>
  T* copy_from(size_t i, const int64_t* starts, const T* from, T* to) const {
    if (i == axes_) return copy_run(from, channels_, to);
    const Axis& axis = axis_[i];
    const bool dense = i + 1 == axes_ && axis.dilation == 1;
    if (dense && starts[i] >= 0 && starts[i] + axis.size <= axis.length)
      return copy_run(from + starts[i] * channels_, axis.size * channels_, to);
    int64_t within = channels_;
    for (size_t j = i + 1; j < axes_; ++j) within *= axis_[j].size;
    for (int64_t k = 0, at = starts[i]; k < axis.size; ++k, at += axis.dilation) {
      if (at >= 0 && at < axis.length)
        to = copy_from(i + 1, starts, from + at * axis.inner, to);
      else
        to = std::fill_n(to, within, T());
    }
    return to;
  }

  /// A call costs more than a few elements do.
  template <class T>
  static T* copy_run(const T* from, int64_t count, T* to) {
    constexpr int64_t kFew = 16;
    if (count > kFew) return std::copy_n(from, count, to);
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    return to + count;
  }

  /// `place` and `element`: numbers among all, along the axes before.
  template <class T>
  void add_to(size_t i, int64_t place, int64_t element, const T* patches, T* to) const {
    if (i == axes_) {
      const T* from = patches + place * elements_ + element * channels_;
      for (int64_t c = 0; c < channels_; ++c) to[c] = static_cast<T>(to[c] + from[c]);
      return;
    }
    const Axis& axis = axis_[i];
    for (int64_t p = 0; p < axis.places; ++p)
      for (int64_t k = 0; k < axis.size; ++k) {
        const int64_t at = p * axis.stride + k * axis.dilation - axis.before;
        if (at >= 0 && at < axis.length)
          add_to(i + 1, place * axis.places + p, element * axis.size + k, patches,
                 to + at * axis.inner);
      }
  }

  size_t axes_ = 0;
  Axis axis_[kAxes] = {};
  int64_t channels_ = 0, inner_ = 0, elements_ = 0, places_ = 1, count_ = 0, rows_ = 0;
};

/// f(T()) with a type of as many bytes as an element: copies need no more.
template <class F>
void with_size(DType dtype, F f) {
  switch (size_of(dtype)) {
    case 1:
      return f(uint8_t());
    case 2:
      return f(uint16_t());
    case 4:
      return f(uint32_t());
    default:
      return f(uint64_t());
  }
}

template <class T>
T* elements_of(Tensor& tensor) {
  return static_cast<T*>(tensor.mutable_raw());
}

struct Patches final : OpOf<Patches> {
  static constexpr const char* kName = "operations.patches";
  PatchGrid grid;
  auto fields() const { return std::tie(grid); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const Shape& images = in[0].shape;
    expect_grid(grid, images);
    Shape shape{images[0]};
    for (size_t i = 0; i < grid.size.size(); ++i)
      shape.append(patches_along(grid, i, images[static_cast<int>(i) + 1]));
    shape.append(images[-1] < 0 ? -1 : images[-1] * product(grid.size));
    return {{in[0].dtype, shape}};
  }
  bool takes(DType dtype) const override { return dtype == DType::complex64; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    const PatchLayout layout(grid, in[0].shape());
    with_size(in[0].dtype(), [&]<class T>(T) {
      layout.copy(0, layout.count(), static_cast<const T*>(in[0].raw()), elements_of<T>(out[0]));
    });
    return true;
  }
  Tensors vjp(const Vjp& v) const override {
    const Shape images = v.inputs[0].shape();
    return {sum_of_patches(v.gradients[0], grid, {images.begin() + 1, images.end() - 1})};
  }
};

/// Of dtypes that C++ has.
struct PatchSum final : OpOf<PatchSum> {
  static constexpr const char* kName = "operations.patch_sum";
  PatchGrid grid;
  std::vector<int64_t> spatial;
  auto fields() const { return std::tie(grid, spatial); }
  Shape images_of(const Shape& patches) const {
    Shape images{patches[0]};
    for (int64_t length : spatial) images.append(length);
    images.append(patches[-1] < 0 ? -1 : patches[-1] / product(grid.size));
    return images;
  }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const Shape& patches = in[0].shape;
    expect_numbers(grid, patches);
    const Shape images = images_of(patches);
    Patches back;
    back.grid = grid;
    const TensorSpec image{in[0].dtype, images};
    if (!back.infer({&image, 1})[0].shape.compatible(patches))
      fail("patches: shape ", patches, " does not give images of ", Value(spatial));
    return {image};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    const PatchLayout layout(grid, out[0].shape());
    with_type(in[0].dtype(), [&]<class T>(T) {
      for (int64_t i = 0; i < layout.rows(); ++i)
        layout.sum(i, in[0].data<T>(), out[0].mutable_data<T>());
    });
    return true;
  }
  Tensors vjp(const Vjp& v) const override { return {patches_of(v.gradients[0], grid)}; }
};

/// Planes of images and the columns of their patches, as they lie in memory.
class ColumnLayout {
 public:
  ColumnLayout() = default;
  ColumnLayout(const PatchGrid& grid, const Shape& images)
      : grid_(grid),
        planes_(images[0] * images[1]),
        height_(images[2]),
        width_(images[3]),
        rows_(patches_along(grid, 0, height_)),
        columns_(patches_along(grid, 1, width_)) {}
  int64_t rows() const { return planes_ * rows_; }  ///< of patches, in all planes
  int64_t elements() const { return columns_ * product(grid_.size); }  ///< of each

  /// What the patches of rows [begin, end) have.
  template <class T>
  void copy(int64_t begin, int64_t end, const T* images, T* columns) const {
    const int64_t places = rows_ * columns_, area = product(grid_.size);
    for (int64_t number = begin; number < end; ++number) {
      const int64_t plane = number / rows_, row = number % rows_;
      const T* image = images + plane * height_ * width_;
      T* to = columns + plane * area * places + row * columns_;
      for (int64_t y = 0; y < grid_.size[0]; ++y) {
        const T* line = image + (row * grid_.strides[0] + y * grid_.dilation[0]) * width_;
        for (int64_t x = 0; x < grid_.size[1]; ++x, to += places)
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

struct Columns final : OpOf<Columns> {
  static constexpr const char* kName = "operations.columns";
  PatchGrid grid;
  auto fields() const { return std::tie(grid); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const Shape& x = in[0].shape;
    expect_grid(grid, {x[0], x[2], x[3], x[1]});
    const int64_t rows = patches_along(grid, 0, x[2]), columns = patches_along(grid, 1, x[3]);
    return {{in[0].dtype,
             {x[0], x[1] < 0 ? -1 : x[1] * product(grid.size),
              rows < 0 || columns < 0 ? -1 : rows * columns}}};
  }
  bool takes(DType dtype) const override { return dtype == DType::complex64; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    const ColumnLayout layout(grid, in[0].shape());
    with_size(in[0].dtype(), [&]<class T>(T) {
      layout.copy(0, layout.rows(), static_cast<const T*>(in[0].raw()), elements_of<T>(out[0]));
    });
    return true;
  }
  Tensors vjp(const Vjp& v) const override {
    return {sum_of_columns(v.gradients[0], grid, {v.inputs[0].dim(2), v.inputs[0].dim(3)})};
  }
};

constexpr int64_t kPatchGrain = 8192;  ///< elements that a part moves at least

class PatchesKernel final : public CpuKernel {
 public:
  static void describe(Schema<PatchesKernel>& s) { s.doc("Some patches a thread."); }
  bool prepare(const CpuRequest& r) override {
    layout_ = PatchLayout(r.op_as<Patches>()->grid, r.inputs[0].shape);
    dtype_ = r.inputs[0].dtype;
    return true;
  }
  void run(const CpuArguments& a) override {
    const int64_t grain = kPatchGrain / std::max<int64_t>(layout_.elements(), 1) + 1;
    with_size(dtype_, [&]<class T>(T) {
      a.threads.blocks(layout_.count(), grain, [&](int64_t begin, int64_t end) {
        layout_.copy(begin, end, a.in<T>(0), a.out<T>(0));
      });
    });
  }

 private:
  PatchLayout layout_;
  DType dtype_ = DType::float32;
};

class ColumnsKernel final : public CpuKernel {
 public:
  static void describe(Schema<ColumnsKernel>& s) { s.doc("Some rows of patches a thread."); }
  bool prepare(const CpuRequest& r) override {
    layout_ = ColumnLayout(r.op_as<Columns>()->grid, r.inputs[0].shape);
    dtype_ = r.inputs[0].dtype;
    return true;
  }
  void run(const CpuArguments& a) override {
    const int64_t grain = kPatchGrain / std::max<int64_t>(layout_.elements(), 1) + 1;
    with_size(dtype_, [&]<class T>(T) {
      a.threads.blocks(layout_.rows(), grain, [&](int64_t begin, int64_t end) {
        layout_.copy(begin, end, a.in<T>(0), a.out<T>(0));
      });
    });
  }

 private:
  ColumnLayout layout_;
  DType dtype_ = DType::float32;
};

class PatchSumKernel final : public CpuKernel {
 public:
  static void describe(Schema<PatchSumKernel>& s) { s.doc("Some rows of images a thread."); }
  bool prepare(const CpuRequest& r) override {
    layout_ = PatchLayout(r.op_as<PatchSum>()->grid, r.outputs[0].shape);
    dtype_ = r.inputs[0].dtype;
    return true;
  }
  void run(const CpuArguments& a) override {
    const int64_t grain = kPatchGrain / std::max<int64_t>(layout_.row(), 1) + 1;
    with_type(dtype_, [&]<class T>(T) {
      a.threads.blocks(layout_.rows(), grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) layout_.sum(i, a.in<T>(0), a.out<T>(0));
      });
    });
  }

 private:
  PatchLayout layout_;
  DType dtype_ = DType::float32;
};

}  // namespace

Tensor patches_of(const Tensor& images, const PatchGrid& grid) {
  Patches op;
  op.grid = grid;
  return apply1(op, {images});
}

Tensor sum_of_patches(const Tensor& patches, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial) {
  PatchSum op;
  op.grid = grid, op.spatial = spatial;
  const bool half = patches.dtype() == DType::bfloat16 || patches.dtype() == DType::float16;
  const Tensor sum = apply1(op, {half ? ops::cast(patches, DType::float32) : patches});
  return ops::cast(sum, patches.dtype());
}

Tensor columns_of(const Tensor& images, const PatchGrid& grid) {
  Columns op;
  op.grid = grid;
  return apply1(op, {images});
}

Tensor sum_of_columns(const Tensor& columns, const PatchGrid& grid,
                      const std::vector<int64_t>& spatial) {
  const int64_t area = product(grid.size), channels = columns.dim(1) / area,
                rows = patches_along(grid, 0, spatial[0]),
                places = patches_along(grid, 1, spatial[1]);
  const Tensor apart = ops::reshape(columns, {-1, channels, area, rows, places});
  const Tensor patches =
      ops::reshape(ops::transpose(apart, {0, 3, 4, 2, 1}), {-1, rows, places, area * channels});
  return ops::transpose(sum_of_patches(patches, grid, spatial), {0, 3, 1, 2});
}

void add_patch_kernels(Registry& registry) {
  registry.add<ColumnsKernel>(Columns::kName);
  registry.add<PatchesKernel>(Patches::kName);
  registry.add<PatchSumKernel>(PatchSum::kName);
}

}  // namespace crescent::operations
