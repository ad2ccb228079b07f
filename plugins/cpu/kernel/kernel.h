// Kernel: code that a factory prepares once for an op and its specs, and that then runs any number
// of times on raw memory. The factory makes every decision and every allocation; run() neither
// checks nor allocates.
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

/// Options of the device that factories read.
struct Options {
  bool onednn = true;  ///< false: only OpenBLAS and own loops (environment CRESCENT_ONEDNN=0)
  bool deterministic = false;  ///< fixes tiles and reduction orders even where that is slower
};

/// A request for a kernel as plugins' factories get it, plus the options of the device.
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
  virtual void run(const Arguments& a) const = 0;
  virtual std::string name() const = 0;  ///< shown in profiles: "onednn brg:avx512_core", "highway"
  virtual size_t scratch_bytes() const { return 0; }
  virtual double flops() const { return 0; }  ///< floating-point operations per run
  /// True when run() may throw although the op declares no failure, as code of other plugins may.
  virtual bool may_fail() const { return false; }
  /// True when output 0 may share memory with `input`, as in elementwise kernels.
  virtual bool in_place(int /*input*/) const { return false; }
  /// The same for any output: `output` may share memory with `input`.
  virtual bool may_share(int input, int output) const { return output == 0 && in_place(input); }
  /// Returns a kernel that brings an input which seldom changes (a weight in inference) into the
  /// layout that this kernel is fastest on. The executor calls prepare() once, before the first
  /// run, and runs that kernel after each change of the input only; run() then gets its result in
  /// place of the input. A null kernel in the result means that run() takes the input as it is.
  virtual Prepared prepare(int input);
  /// True when this kernel can run the only reader of its only result as an epilogue.
  virtual bool can_host_epilogue() const { return false; }
  /// Takes over the kernel `next`, which reads the result as its input `input`, as an epilogue, and
  /// gives true on success. The other inputs of `next` then follow this kernel's own inputs, and
  /// the outputs are those of `next`.
  virtual bool fuse_epilogue(std::unique_ptr<Kernel>& /*next*/, int /*input*/) { return false; }
  /// Makes a product a'b with `columns` columns also write the column sums of b, its input 1, to
  /// output `output`; returns false when this kernel is no such product.
  virtual bool sum_columns(int64_t /*columns*/, int /*output*/) { return false; }
};

/// A kernel of one input and the spec of its result. Equal forms give equal results for equal
/// inputs, so programs can share prepared values.
struct Prepared {
  std::unique_ptr<Kernel> kernel;
  TensorSpec spec;
  std::string form;
};
inline Prepared Kernel::prepare(int /*input*/) { return {}; }

/// Makes the kernel, or returns null for a request that it cannot serve; then another factory,
/// decompose() or compute() is tried.
using KernelFactory = std::unique_ptr<Kernel> (*)(const Request&);

/// A factory and the name of the op that it serves. Each family of kernels has one table of rows,
/// the best factory of an op first; kernels.cpp joins the tables.
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

/// Returns the kernel of the first factory of any family that serves the request, or else another
/// plugin's kernel; null when there is none.
std::unique_ptr<Kernel> make_kernel(const Request& request);

/// Whether the request has a kernel. A kernel that is made to find out stays in this thread's
/// kernel cache for the program that is compiled next.
bool has_kernel(const Request& request);
/// Takes the kernel of the request from the kernel cache, or makes a new one.
std::unique_ptr<Kernel> cached_or_new_kernel(const Request& request);
/// Empties the kernel cache; compile() calls it when a program is compiled.
void clear_kernel_cache();

}  // namespace crescent::cpu
