// Kernel: code that a factory prepares once for an op and the dtypes and shapes of its arguments,
// and that then runs any number of times on raw memory. The factory makes all decisions and
// allocations; run() neither checks nor allocates.
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
  /// Whether oneDNN may be used. If not (environment variable CRESCENT_ONEDNN=0), kernels use only
  /// OpenBLAS and the loops of this plugin.
  bool onednn = true;
  /// Whether tiles and the order of sums are fixed, even if this is slower.
  bool deterministic = false;
};

/// A request for a kernel as plugins' factories get it, plus the options of the device.
struct Request : CpuRequest {
  Request(const Op& of, std::span<const TensorSpec> in, std::span<const TensorSpec> out,
          const Options& device_options)
      : CpuRequest{of, in, out, device_options.deterministic}, options(device_options) {}

  const Options& options;
};

using Arguments = CpuArguments;

struct InputConversion;

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(const Arguments& a) const = 0;
  virtual std::string name() const = 0;  ///< shown in profiles: "onednn brg:avx512_core", "highway"
  virtual size_t scratch_bytes() const { return 0; }
  virtual double flops() const { return 0; }  ///< floating-point operations per run
  /// Whether run() may throw although the op is declared not to fail; kernels of other plugins may.
  virtual bool may_fail() const { return false; }
  /// Whether output 0 may share memory with input `input`, which most elementwise kernels allow.
  virtual bool in_place(int /*input*/) const { return false; }
  /// Whether output `output` may share memory with input `input`.
  virtual bool may_share(int input, int output) const { return output == 0 && in_place(input); }
  /// Returns a kernel that converts an input which seldom changes (a weight in inference) to the
  /// layout with which this kernel is fastest. The executor calls prepare() once, before the first
  /// run, and runs the returned kernel only after the input has changed; run() then gets the
  /// converted input. If the kernel in the result is null, run() takes the input unconverted.
  virtual InputConversion prepare(int input);
  /// Whether this kernel can have an epilogue: another kernel that alone reads its only result, and
  /// that then runs within this kernel, on each part of the result as soon as it is computed.
  virtual bool can_host_epilogue() const { return false; }
  /// Makes the kernel `next`, which reads the result of this kernel as its input `input`, the
  /// epilogue of this kernel; returns true on success. Then the other inputs of `next` follow this
  /// kernel's own inputs, and the outputs are those of `next`.
  virtual bool fuse_epilogue(std::unique_ptr<Kernel>& /*next*/, int /*input*/) { return false; }
  /// Makes a kernel that is a matrix product a'b, where b (input 1) has `columns` columns, also
  /// write the sums of the columns of b to output `output`. Returns false if this kernel is not
  /// such a product.
  virtual bool sum_columns(int64_t /*columns*/, int /*output*/) { return false; }
};

/// The result of Kernel::prepare: a kernel that converts one input, and the dtype and shape of the
/// converted value. `form` identifies the conversion: equal forms give equal results for equal
/// inputs, so that programs can share converted values.
struct InputConversion {
  std::unique_ptr<Kernel> kernel;
  TensorSpec spec;
  std::string form;
};
inline InputConversion Kernel::prepare(int /*input*/) { return {}; }

/// A function that makes a kernel. It returns null for a request that it does not support; then
/// another factory is tried, or the op is decomposed or becomes a host call.
using KernelFactory = std::unique_ptr<Kernel> (*)(const Request&);

/// A factory and the name of the op for which it makes kernels. Each family of kernels has a table
/// of such entries, in which the best factory for an op comes first; kernels.cpp joins the tables.
struct KernelEntry {
  const char* op;
  KernelFactory make;
};
// Kernels for the ops unary, binary, select, cast, fused.
std::span<const KernelEntry> elementwise_kernels();
/// Kernels for the ops bitcast, broadcast_to, transpose, concat, slice, pad, reverse, gather,
/// take_along, scatter_add, one_hot, fill, iota, check_indices.
std::span<const KernelEntry> shape_kernels();
/// Kernels for the ops reduce, arg_reduce, cumulative, top_k, order_statistics.
std::span<const KernelEntry> reduction_kernels();
/// Kernels for the op random.
std::span<const KernelEntry> random_kernels();
/// Kernels for the ops softmax, softmax_cross_entropy and the gradient of softmax_cross_entropy.
std::span<const KernelEntry> softmax_kernels();
/// Kernels for the op matmul.
std::span<const KernelEntry> matmul_kernels();
/// Kernels for the ops conv and its gradients, conv_pool, depthwise_forward, depthwise_backward.
std::span<const KernelEntry> convolution_kernels();
/// Kernels for the ops pool, pool_argmax, and their gradients.
std::span<const KernelEntry> pooling_kernels();
/// Kernels for the ops batch_moments, batch_norm_*, layer_norm and its gradient.
std::span<const KernelEntry> normalization_kernels();
/// Kernels for the ops attention and its gradient.
std::span<const KernelEntry> attention_kernels();
/// Kernels for the ops lstm, gru, lstm_gates, and their gradients.
std::span<const KernelEntry> recurrent_kernels();
/// Kernels for the ops qr, svd, svd_batch, eig, eigh, solve, cholesky, lu_factor.
std::span<const KernelEntry> linalg_kernels();
/// Kernels for the ops all_reduce, shard_slice, shard_concat, shard_reduce.
std::span<const KernelEntry> collective_kernels();
/// Kernels for the op host_call.
std::span<const KernelEntry> host_kernels();

/// Makes a kernel by the first factory of any family that supports the request, or else gets a
/// kernel from another plugin; null if there is none.
std::unique_ptr<Kernel> make_kernel(const Request& request);

/// Whether there is a kernel for the request. To find out, the kernel is made and kept in this
/// thread's kernel cache for the program that is compiled next.
bool has_kernel(const Request& request);
/// Takes the kernel of the request from the kernel cache, or makes a new one.
std::unique_ptr<Kernel> cached_or_new_kernel(const Request& request);
/// Empties the kernel cache; compile() calls it when a program is compiled.
void clear_kernel_cache();

}  // namespace crescent::cpu
