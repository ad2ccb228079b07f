// Helper classes for kernels that use oneDNN: a primitive is made once for a slice of the work and
// runs on one thread of the pool.
#pragma once
#include <omp.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.h"
#include "libraries/onednn_functions.h"
#include "memory/object_pool.h"

namespace crescent::cpu::onednn {

/// Restricts oneDNN to the calling thread during the lifetime of this object. (Debian's oneDNN uses
/// OpenMP, whose number of threads is set per thread.)
class SingleThread {
 public:
  SingleThread() : previous_threads_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SingleThread() { omp_set_num_threads(previous_threads_); }
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int previous_threads_;
};

dnnl::engine& engine();

/// The oneDNN type for float32 and bfloat16; undef for other dtypes.
dnnl::memory::data_type type_of(DType dtype);

/// Throws an error for a failed call of oneDNN. `operation` is the operation that the message
/// names, such as "convolution" or "matmul".
[[noreturn]] void fail_as(const char* operation, dnnl_status_t status);
template <class F>
auto checked(const char* operation, F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const dnnl::error& error) {
    fail_as(operation, error.status);
  }
}

/// Returns the kernel that make() returns; null if oneDNN has no implementation or only a slow one.
template <class F>
std::unique_ptr<Kernel> kernel_if_known(const char* operation, F&& make) {
  if (!onednn_library().is_available()) return nullptr;
  SingleThread single_thread;
  try {
    return make();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments)
      return nullptr;
    fail_as(operation, error.status);
  }
}

/// An unblocked layout with the given strides.
dnnl::memory::desc unblocked_layout(const std::vector<int64_t>& dims, dnnl::memory::data_type type,
                                    const std::vector<int64_t>& strides);

/// Attributes for sigmoid or tanh on the result, and for scratch memory that the caller provides.
/// relu is left to apply_relu().
dnnl::primitive_attr attributes(ActivationKind activation = ActivationKind::none);

/// Applies a relu that keeps NaN. oneDNN's own relu turns NaN into 0, which would hide that a
/// training diverges.
void apply_relu(DType dtype, std::byte* values, int64_t count);

/// Whether an implementation is oneDNN's slow reference code; Crescent's own kernels are faster.
bool is_reference(const char* implementation);

using Arguments = std::vector<std::pair<int, dnnl::memory::desc>>;

/// The oneDNN primitives of a kernel. Several threads may run them at once, each on the workers of
/// a pool.
class Primitives {
  struct Task {
    std::vector<dnnl::memory> memory;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  struct Worker {
    dnnl::stream stream;
    std::vector<Task> tasks;  ///< one for each primitive
  };
  using Workers = std::vector<Worker>;

 public:
  /// Adds a primitive and returns its index for run(), which takes addresses in the order of
  /// `arguments`.
  template <class Desc, class Primitive = dnnl::primitive>
  int add(const Primitive& primitive, const Desc& desc, Arguments arguments) {
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
    entries_.push_back({primitive, std::move(arguments)});
    return static_cast<int>(entries_.size()) - 1;
  }

  /// The primitives for one parallel region, in which each worker has separate memory objects and
  /// scratch memory.
  class Region {
   public:
    /// Makes memory for at most `workers` workers; allocates only if there are more workers, or
    /// more regions at the same time, than ever before.
    Region(const Primitives& primitives, int workers);
    int workers() const { return worker_count_; }
    void run(int worker, int primitive_index, std::initializer_list<const void*> addresses) const;

   private:
    const Primitives& primitives_;
    ObjectPool<Workers>::Lease workers_;
    int worker_count_;
  };

 private:
  struct PrimitiveEntry {
    dnnl::primitive primitive;
    Arguments arguments;
  };
  static Task make_task(const PrimitiveEntry& entry);

  std::vector<PrimitiveEntry> entries_;
  mutable ObjectPool<Workers> workers_;  ///< one set per concurrent region
};

}  // namespace crescent::cpu::onednn
