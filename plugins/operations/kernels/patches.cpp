#include "patches.h"

#include <algorithm>

#include "../shared/host.h"
#include "crescent/device/cpu_kernel.h"
#include "crescent/registry/registration.h"
#include "patch_layout.h"

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

template <class Layout>
void copy_all(const Layout& layout, const Tensor& images, Tensor& patches) {
  with_size(images.dtype(), [&]<class T>(T) {
    layout.copy(0, layout.count(), static_cast<const T*>(images.raw()),
                static_cast<T*>(patches.mutable_raw()));
  });
}

struct Patches final : OpOf<Patches> {
  using Layout = PatchLayout;
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
  bool supports_dtype(DType dtype) const override { return dtype == DType::complex64; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    copy_all(Layout(grid, in[0].shape()), in[0], out[0]);
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

struct Columns final : OpOf<Columns> {
  using Layout = ColumnLayout;
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
  bool supports_dtype(DType dtype) const override { return dtype == DType::complex64; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    copy_all(Layout(grid, in[0].shape()), in[0], out[0]);
    return true;
  }
  Tensors vjp(const Vjp& v) const override {
    return {sum_of_columns(v.gradients[0], grid, {v.inputs[0].dim(2), v.inputs[0].dim(3)})};
  }
};

constexpr int64_t kPatchGrain = 8192;  ///< elements that a part moves at least

/// Of an op with a grid and the layout that it copies by.
template <class Op>
class PatchCopyKernel final : public CpuKernel {
 public:
  static void describe(Schema<PatchCopyKernel>& s) { s.doc("Some patches a thread."); }
  bool prepare(const CpuRequest& r) override {
    layout_ = {r.op_as<Op>()->grid, r.inputs[0].shape};
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
  typename Op::Layout layout_;
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
  const Tensor grouped = ops::reshape(columns, {-1, channels, area, rows, places});
  const Tensor patches =
      ops::reshape(ops::transpose(grouped, {0, 3, 4, 2, 1}), {-1, rows, places, area * channels});
  return ops::transpose(sum_of_patches(patches, grid, spatial), {0, 3, 1, 2});
}

CRESCENT_REGISTER(patch_kernels) {
  registry.add<PatchCopyKernel<Columns>>(Columns::kName);
  registry.add<PatchCopyKernel<Patches>>(Patches::kName);
  registry.add<PatchSumKernel>(PatchSum::kName);
}

}  // namespace crescent::operations
