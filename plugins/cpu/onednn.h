// How kernels use oneDNN: primitives are made once, for a slice of the work, and run on one thread inside the pool.
#pragma once
#include <omp.h>

#include <cstddef>
#include <initializer_list>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kernel.h"

namespace crescent::cpu::onednn {

/// While alive, oneDNN uses the calling thread alone. (Debian's is an OpenMP build; the setting is one a thread.)
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

/// A plain layout with the given strides.
dnnl::memory::desc plain(const std::vector<int64_t>& dims, dnnl::memory::data_type type,
                         const std::vector<int64_t>& strides);

/// Relu, sigmoid or tanh on what a primitive stores, and scratch memory given by the caller.
dnnl::primitive_attr attributes(Epilogue epilogue = Epilogue::none);

/// oneDNN's slow reference code, which own kernels beat.
bool is_reference(const char* implementation);

/// A primitive and the memory it works on. Not for two threads at once: every part of a region has its own.
class Task {
 public:
  Task(const dnnl::primitive& primitive, std::initializer_list<std::pair<int, dnnl::memory::desc>> arguments);
  /// Argument i, in the order given to the constructor, is at `address` from now on.
  void bind(int i, const void* address) { arguments_[i].memory.set_data_handle(const_cast<void*>(address)); }
  void run();

 private:
  struct Argument {
    int index;
    dnnl::memory memory;
  };
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<Argument> arguments_;
  std::vector<dnnl_exec_arg_t> raw_;
};

}  // namespace crescent::cpu::onednn
