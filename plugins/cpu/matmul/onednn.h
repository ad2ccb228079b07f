// How kernels use oneDNN: primitives are made once, for a slice of the work, and run on one thread
// inside the pool.
#pragma once
#include <omp.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.h"

namespace crescent::cpu::onednn {

/// While alive, oneDNN uses the calling thread alone. (Debian's is an OpenMP build; the setting is
/// one a thread.)
class SingleThread {
 public:
  SingleThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SingleThread() { omp_set_num_threads(before_); }
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int before_;
};

dnnl::engine& engine();

/// float32 and bfloat16; undef for the others.
dnnl::memory::data_type type_of(DType dtype);

/// What oneDNN reports becomes an error that names what was being done; "convolution" or "matmul",
/// say.
[[noreturn]] void fail_as(const char* what, dnnl_status_t status);
template <class F>
auto checked(const char* what, F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const dnnl::error& error) {
    fail_as(what, error.status);
  }
}

/// The kernel that make() gives; null for what oneDNN does not know, or only slowly.
template <class F>
std::unique_ptr<Kernel> kernel_if_known(const char* what, F&& make) {
  SingleThread alone;
  try {
    return make();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments)
      return nullptr;
    fail_as(what, error.status);
  }
}

/// A plain layout with the given strides.
dnnl::memory::desc plain(const std::vector<int64_t>& dims, dnnl::memory::data_type type,
                         const std::vector<int64_t>& strides);

/// Sigmoid or tanh on what a primitive stores, and scratch memory given by the caller. Relu is left
/// to apply_relu().
dnnl::primitive_attr attributes(ActivationKind activation = ActivationKind::none);

/// oneDNN's own relu makes 0 of what is not a number, which would hide a diverging training; this
/// one keeps it.
void apply_relu(DType dtype, std::byte* values, int64_t count);

/// oneDNN's slow reference code, which own kernels beat.
bool is_reference(const char* implementation);

using Arguments = std::vector<std::pair<int, dnnl::memory::desc>>;

/// Primitives as the workers of a pool run them: every worker on its own memory objects and scratch
/// memory.
class Primitives {
 public:
  /// The number by which run() knows the primitive; arguments in the order of the addresses there.
  template <class Desc, class Primitive = dnnl::primitive>
  int add(const Primitive& primitive, const Desc& desc, Arguments arguments) {
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
    recipes_.push_back({primitive, std::move(arguments)});
    return static_cast<int>(recipes_.size()) - 1;
  }
  /// To be called before run() in a region of at most so many workers, which it returns; allocates
  /// the first time only.
  int prepare(int workers);
  void run(int worker, int which, std::initializer_list<const void*> addresses);

 private:
  struct Recipe {
    dnnl::primitive primitive;
    Arguments arguments;
  };
  struct Task {
    std::vector<dnnl::memory> memory;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  struct Worker {
    dnnl::stream stream;
    std::vector<Task> tasks;  ///< one a recipe
  };
  static Task make_task(const Recipe& recipe);

  std::vector<Recipe> recipes_;
  std::vector<Worker> workers_;
};

}  // namespace crescent::cpu::onednn
