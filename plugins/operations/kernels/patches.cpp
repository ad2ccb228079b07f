// Kernels that extract patches of images (channels last), and that add patches to images.
#include <algorithm>

#include "crescent/device/cpu_kernel.h"
#include "crescent/program/array_op_types.h"
#include "crescent/registry/registration.h"
#include "crescent/tensor/with_type.h"
#include "patch_layout.h"

namespace crescent::operations {
namespace {

/// Calls f(T()) with an integer type T of the size of an element, since copies do not depend on the
/// dtype.
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

constexpr int64_t kPatchGrain = 8192;  ///< fewest elements per task

/// The kernel of an op with a grid of patches. The class `Layout` copies the elements.
template <class Op, class Layout>
class PatchCopyKernel final : public CpuKernel {
 public:
  static void describe(Schema<PatchCopyKernel>& s) {
    s.doc("Runs on several threads, each with some patches.");
  }
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
  Layout layout_;
  DType dtype_ = DType::float32;
};

class PatchSumKernel final : public CpuKernel {
 public:
  static void describe(Schema<PatchSumKernel>& s) {
    s.doc("Runs on several threads, each with some rows of images.");
  }
  bool prepare(const CpuRequest& r) override {
    layout_ = PatchLayout(r.op_as<PatchSum>()->grid, r.outputs[0].shape);
    dtype_ = r.inputs[0].dtype;
    return true;
  }
  void run(const CpuArguments& a) override {
    const int64_t grain = kPatchGrain / std::max<int64_t>(layout_.row_size(), 1) + 1;
    with_type(dtype_, [&]<class T>(T) {
      a.threads.blocks(layout_.row_count(), grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) layout_.sum(i, a.in<T>(0), a.out<T>(0));
      });
    });
  }

 private:
  PatchLayout layout_;
  DType dtype_ = DType::float32;
};

}  // namespace

CRESCENT_REGISTER(patch_kernels) {
  registry.add<PatchCopyKernel<Columns, ColumnLayout>>(Columns::kName);
  registry.add<PatchCopyKernel<Patches, PatchLayout>>(Patches::kName);
  registry.add<PatchSumKernel>(PatchSum::kName);
}

}  // namespace crescent::operations
