// What a kernel is: prepared once for an op and its specs, then run any number of times on raw
// memory. Everything that can be decided or allocated is decided and allocated in the factory;
// run() neither checks nor allocates.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "crescent/device/cpu_kernel.h"
#include "crescent/program/op_types.h"
#include "kernel/post_ops.h"
#include "threads/pool.h"

namespace crescent::cpu {

/// Switches of the device that a factory may look at.
struct Options {
  bool onednn = true;  ///< false: OpenBLAS and own loops only (environment CRESCENT_ONEDNN=0)
  bool deterministic = false;  ///< fixed tiles and reduction orders even where that costs time
};

/// What kernels of plugins are asked, and the switches.
struct Request : CpuRequest {
  Request(const Op& of, std::span<const TensorSpec> in, std::span<const TensorSpec> out,
          const Options& switches)
      : CpuRequest{of, in, out, switches.deterministic}, options(switches) {}

  const Options& options;
};

using Arguments = CpuArguments;

struct Prepared;

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(const Arguments& a) = 0;
  virtual std::string name() const = 0;  ///< for profiles: "onednn brg:avx512_core", "highway"
  virtual size_t scratch_bytes() const { return 0; }
  virtual double flops() const { return 0; }  ///< a run
  /// run() may throw although the op that it is made for does not say so: it is code of others.
  virtual bool may_fail() const { return false; }
  /// Output 0 may share memory with input i (elementwise).
  virtual bool in_place(int /*input*/) const { return false; }
  /// The same for any output: `output` may share memory with `input`.
  virtual bool may_share(int input, int output) const { return output == 0 && in_place(input); }
  /// Asked once, before the first run, for an input that seldom changes (a weight in inference):
  /// what brings it into the form that this kernel is fastest on. It is run after each change only,
  /// and run() finds its result instead of the input. No kernel: the input is wanted as it is.
  virtual Prepared prepare(int input);
  /// Whether it may take over a kernel that alone reads its only result.
  virtual bool can_host_epilogue() const { return false; }
  /// Asked then for such a kernel, which reads the result as its input `input`: true when it was
  /// taken over. The other inputs of `next` come after the own ones, and the outputs are those of
  /// `next`.
  virtual bool fuse_epilogue(std::unique_ptr<Kernel>& /*next*/, int /*input*/) { return false; }
  /// Asked of a step that may be a product a'b with so many columns: true when it will also make
  /// the sum of the rows of b, which is its input 1, as output `output`.
  virtual bool sum_columns(int64_t /*columns*/, int /*output*/) { return false; }
};

/// A kernel of one input, and the memory that its result takes. Where two forms are equal, the
/// results of equal inputs are, so that programs can share them.
struct Prepared {
  std::unique_ptr<Kernel> kernel;
  TensorSpec spec;
  std::string form;
};
inline Prepared Kernel::prepare(int /*input*/) { return {}; }

/// Null when it has no way to run the request (another factory, decompose() or compute() is tried).
using KernelFactory = std::unique_ptr<Kernel> (*)(const Request&);

/// Rows: which factories serve an op name, best first. One function a family fills it: see
/// kernels.cpp.
struct KernelRow {
  const char* op;
  KernelFactory make;
};
std::span<const KernelRow> elementwise_kernels();  // unary binary select cast stop_gradient fused
std::span<const KernelRow>
shape_kernels();  // reshape broadcast_to transpose concat slice pad reverse gather scatter_add
                  // take_along one_hot fill iota
std::span<const KernelRow> reduction_kernels();      // reduce arg_reduce cumulative top_k
std::span<const KernelRow> random_kernels();         // random
std::span<const KernelRow> softmax_kernels();        // softmax softmax_cross_entropy(+backward)
std::span<const KernelRow> matmul_kernels();         // matmul
std::span<const KernelRow> convolution_kernels();    // conv conv_backward_data conv_backward_kernel
std::span<const KernelRow> pooling_kernels();        // pool pool_backward
std::span<const KernelRow> normalization_kernels();  // batch_moments batch_norm_* layer_norm*
std::span<const KernelRow> attention_kernels();      // attention attention_backward
std::span<const KernelRow> recurrent_kernels();      // lstm gru (+backward)
std::span<const KernelRow> linalg_kernels();         // qr svd
std::span<const KernelRow> collective_kernels();     // all_reduce
std::span<const KernelRow> host_kernels();           // host_call

/// The first factory of any family that serves the request, or else another plugin's kernel; null
/// when there is none.
std::unique_ptr<Kernel> make_kernel(const Request& request);

/// What supports() has made to find out whether there is a kernel is kept, for the program that is
/// compiled next on this thread.
bool has_kernel(const Request& request);
/// The one that was kept, or a new one.
std::unique_ptr<Kernel> cached_or_new_kernel(const Request& request);
/// To be called when a program is compiled.
void clear_kernel_cache();

}  // namespace crescent::cpu
