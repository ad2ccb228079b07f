// Kernels of the cpu device for ops that plugins define (op.h). An op without a kernel is run
// through decompose() or compute(). For Crescent's own ops the built-in kernels take precedence.
//
//   class EmaKernel final : public CpuKernel {
//    public:
//     static void describe(Schema<EmaKernel>& s) { s.doc("A moving average of each sample."); }
//     bool prepare(const CpuRequest& r) override {      // decide, and note what run() needs
//       const auto* op = r.op_as<Ema>();
//       if (!op || r.outputs[0].dtype != DType::float32) return false;
//       decay_ = op->decay, size_ = r.outputs[0].shape.size();
//       return true;
//     }
//     void run(const CpuArguments& a) override { ... a.in<float>(0) ... a.out<float>(0) ... }
//   };
//   CRESCENT_PLUGIN("acme.ema", "1.0.0") { registry.add<EmaKernel>("acme.ema"); }  // the op's name
//
// The name of an op consists of its plugin's name and its own: "acme.ema". examples/plugins/op is
// a complete example.
#pragma once
#include <climits>
#include <span>
#include <type_traits>

#include "crescent/program/op.h"
#include "crescent/registry/registry.h"

namespace crescent {

/// The op and the specs for which a kernel is prepared. Shapes are known; shapes and dtypes of
/// outputs are those that infer() returned.
struct CpuRequest {
  const Op& op;
  std::span<const TensorSpec> inputs, outputs;
  /// Whether sums must be added in an order that does not depend on the number of threads, even
  /// where that is slower.
  bool deterministic;

  /// Returns the op as a T; null if it is of another class.
  template <class T>
  const T* op_as() const {
    return dynamic_cast<const T*>(&op);
  }
};

/// The thread pool of the device. A call of run(), parallel() or blocks() is a parallel region.
/// Regions do not nest: a region that begins inside another one runs its parts on the calling
/// thread.
class CRESCENT_API CpuThreads {
 public:
  virtual int threads() const = 0;
  using Body = void (*)(void* context, int64_t part, int worker);
  /// Calls body(context, part, worker) once for every part in [0, parts), concurrently on up to
  /// `most` workers, which are numbered from 0. The first exception of a body is rethrown to the
  /// caller.
  virtual void run(int64_t parts, Body body, void* context, int most = INT_MAX) = 0;

  /// Calls f(part, worker) for every part. A caller that allocates an array with an element per
  /// worker passes the array's size as `most`, because threads() may have grown when the region
  /// begins.
  template <class F>
  void parallel(int64_t parts, F&& f, int most = INT_MAX) {
    run(
        parts,
        [](void* c, int64_t part, int worker) {
          (*static_cast<std::remove_reference_t<F>*>(c))(part, worker);
        },
        &f, most);
  }
  /// Calls f(begin, end) for blocks of `grain` elements of [0, n). The blocks depend on n and grain
  /// alone, so a result computed within a block has the same bits for any number of threads. A
  /// block should take some microseconds.
  template <class F>
  void blocks(int64_t n, int64_t grain, F&& f) {
    if (n <= grain) return f(int64_t{0}, n);
    parallel((n + grain - 1) / grain, [&](int64_t part, int) {
      const int64_t begin = part * grain;
      f(begin, begin + grain < n ? begin + grain : n);
    });
  }

 protected:
  ~CpuThreads();
};

/// The memory of one run. Arrays are dense and row-major; they are 64-byte aligned unless they are
/// a slice of a larger tensor.
struct CpuArguments {
  const std::byte* const* inputs;
  std::byte* const* outputs;
  std::byte* scratch;  ///< scratch_bytes() bytes, 64-byte aligned, with undefined contents
  CpuThreads& threads;

  template <class T>
  const T* in(int i) const {
    return reinterpret_cast<const T*>(inputs[i]);
  }
  template <class T>
  T* out(int i) const {
    return reinterpret_cast<T*>(outputs[i]);
  }
};

/// A kernel for one op with fixed shapes. The class is registered under the name of the op. Every
/// instruction of a program has a kernel object of its own, which two threads never run at once.
class CRESCENT_API CpuKernel : public Plain {
 public:
  static constexpr const char* kKind = "cpu_kernel";
  CpuKernel();
  ~CpuKernel() override;
  /// Called once, before everything else; returns whether this kernel can compute the request. All
  /// decisions and allocations belong here.
  virtual bool prepare(const CpuRequest& request) = 0;
  /// Computes the op; called any number of times. It must neither check its arguments nor allocate.
  virtual void run(const CpuArguments& a) = 0;

  // The remaining functions are called after prepare().
  virtual size_t scratch_bytes() const { return 0; }
  /// Floating-point operations of one run, for profiles.
  virtual double flops() const { return 0; }
  /// Whether output 0 may share memory with this input: true if each element is written only after
  /// its last read.
  virtual bool in_place(int /*input*/) const { return false; }
  /// The kernel's name in profiles; the default is the name of the plugin.
  virtual std::string name() const;
};

}  // namespace crescent
