// Singular value decompositions of batches of small matrices.
#include <algorithm>
#include <memory>

#include "crescent/device/cpu_kernel.h"
#include "crescent/program/linalg_op_types.h"
#include "crescent/registry/registration.h"
#include "jacobi.h"

namespace crescent::operations {
namespace {

constexpr int64_t kCacheLine = 8;  ///< number of doubles per cache line

/// The number of groups of kSvdLanes matrices, which are decomposed at once.
int64_t group_count(const Shape& a) {
  return (a.slice(0, a.rank() - 2).size() + kSvdLanes - 1) / kSvdLanes;
}
/// Decomposes the matrices of a group. `work` must have room for svd_work() numbers and one more
/// cache line, for alignment.
void decompose_group(const Shape& shape, int64_t group_index, const double* a, double* u, double* s,
                     double* vt, double* work) {
  const int64_t m = shape[-2], n = shape[-1], k = std::min(m, n),
                first_matrix = group_index * kSvdLanes;
  const int64_t count = shape.slice(0, shape.rank() - 2).size();
  void* aligned_work = work;
  size_t free_bytes = static_cast<size_t>(svd_work(m, n) + kCacheLine) * sizeof(double);
  std::align(kCacheLine * sizeof(double), 1, aligned_work, free_bytes);
  svd_of_group(a + first_matrix * m * n, std::min(kSvdLanes, count - first_matrix), m, n,
               u + first_matrix * m * k, s + first_matrix * k, vt + first_matrix * k * n,
               static_cast<double*>(aligned_work));
}

class SvdKernel final : public CpuKernel {
 public:
  static void describe(Schema<SvdKernel>& s) {
    s.doc("Runs on several threads, each with some matrices.");
  }
  bool prepare(const CpuRequest& r) override {
    if (r.inputs[0].dtype != DType::float64) return false;
    shape_ = r.inputs[0].shape;
    group_count_ = group_count(shape_);
    work_size_ = svd_work(shape_[-2], shape_[-1]) + kCacheLine;
    return true;
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(workers() * work_size_) * sizeof(double);
  }
  void run(const CpuArguments& a) override {
    struct Job {
      const SvdKernel* kernel;
      const CpuArguments* a;
    } job{this, &a};
    a.threads.run(
        group_count_,
        [](void* context, int64_t group_index, int worker) {
          const auto& [kernel, arguments] = *static_cast<Job*>(context);
          auto* work = reinterpret_cast<double*>(arguments->scratch) + worker * kernel->work_size_;
          decompose_group(kernel->shape_, group_index, arguments->in<double>(0),
                          arguments->out<double>(0), arguments->out<double>(1),
                          arguments->out<double>(2), work);
        },
        &job, workers());
  }

 private:
  int workers() const { return static_cast<int>(std::clamp<int64_t>(group_count_, 1, 32)); }
  Shape shape_;
  int64_t group_count_ = 0, work_size_ = 0;
};

}  // namespace

CRESCENT_REGISTER(svd_kernel) { registry.add<SvdKernel>(BatchedSvd::kName); }

}  // namespace crescent::operations
