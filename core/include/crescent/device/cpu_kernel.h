// Kernels of the cpu device for ops of one's own (op.h). An op without one is taken apart by
// decompose() or runs compute(); the kernels of Crescent's own ops come first.
//
//   class EmaKernel final : public CpuKernel {
//    public:
//     static void describe(Schema<EmaKernel>& s) { s.doc("A moving average, a sample a thread."); }
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
// The name of an op is its plugin's and its own, "acme.ema". examples/kernel is a complete one.
#pragma once
#include <climits>
#include <span>
#include <type_traits>

#include "crescent/program/op.h"
#include "crescent/registry/registry.h"

namespace crescent {

/// What a kernel is to compute. Shapes are known; they and the dtypes are those that infer() gave.
struct CpuRequest {
  const Op& op;
  std::span<const TensorSpec> inputs, outputs;
  /// Sums are to be added in an order that the number of threads does not change, even where that
  /// costs time.
  bool deterministic;

  /// Null when the op is of another class.
  template <class T>
  const T* op_as() const {
    return dynamic_cast<const T*>(&op);
  }
};

/// The threads of the device. Regions do not nest: inside of one, parts run in the caller.
class CRESCENT_API CpuThreads {
 public:
  virtual int threads() const = 0;
  using Body = void (*)(void* context, int64_t part, int worker);
  /// Calls body(context, part, worker) once for every part < parts, at the same time on up to
  /// `most` workers, which are numbered from 0. The first exception of a body is thrown again here.
  virtual void run(int64_t parts, Body body, void* context, int most = INT_MAX) = 0;

  /// f(part, worker) for every part. Who has something for each worker says with `most` for how
  /// many: threads() may be more by the time that the region begins.
  template <class F>
  void parallel(int64_t parts, F&& f, int most = INT_MAX) {
    run(
        parts,
        [](void* c, int64_t part, int worker) {
          (*static_cast<std::remove_reference_t<F>*>(c))(part, worker);
        },
        &f, most);
  }
  /// f(begin, end) over [0, n) in blocks of `grain`. They depend on n and grain only: what is
  /// computed within them has the same bits for any number of threads. A block should take some
  /// microseconds.
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

/// The memory of one run: dense, row-major, 64-byte aligned where it is not a part of a tensor.
struct CpuArguments {
  const std::byte* const* inputs;
  std::byte* const* outputs;
  std::byte* scratch;  ///< scratch_bytes() of it, 64-byte aligned, contents undefined
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

/// A kernel for one op and the shapes of one place in a program. It is registered under the name of
/// the op; each place makes one of its own, which one thread runs at a time.
class CRESCENT_API CpuKernel : public Plain {
 public:
  static constexpr const char* kKind = "cpu_kernel";
  CpuKernel();
  ~CpuKernel() override;
  /// Called once, first: whether this kernel is for the request. All that can be decided or
  /// allocated is decided and allocated here.
  virtual bool prepare(const CpuRequest& request) = 0;
  /// Any number of times. Neither checks nor allocates.
  virtual void run(const CpuArguments& a) = 0;

  // After prepare():
  virtual size_t scratch_bytes() const { return 0; }
  virtual double flops() const { return 0; }  ///< of a run, for profiles
  /// Output 0 may share memory with input i: each element is written after it was read last.
  virtual bool in_place(int /*input*/) const { return false; }
  /// In profiles: the plugin, unless overridden.
  virtual std::string name() const;
};

}  // namespace crescent
