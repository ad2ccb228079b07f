// Device: the only interface to hardware. A device compiles a Program into an Executable, which
// runs on the device's memory. Devices are plugins of kind "device"; other code reads device memory
// only by asking a tensor for its host values.
//
// A device that computes in host memory need not define memory(). A device with its own memory
// derives classes from Memory and DeviceStorage (tensor.h): allocate, read, write, and optionally
// copy. It may be asynchronous: runs, reads and writes then take effect in the order of the calls,
// memory in use by a run must stay allocated until the run ends, and errors are reported by the
// next read or by synchronize().
//
// A device lives to the end of the process, longer than its executables and its memory. Any thread
// may call it, and several at once.
//
// After set_device, functions are recompiled, a variable moves to the new device when a program
// next uses it, and tensors stay where they are: programs read copies of them.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "crescent/registry/registry.h"
#include "crescent/tensor/tensor.h"

namespace crescent {

class Op;
class Program;

/// The numbers of cores for which a profile estimates the time.
inline constexpr std::array<int, 5> kProfiledCores = {1, 4, 8, 16, 32};

/// One row of a profile: equal instructions within one layer.
struct ProfileEntry {
  std::string scope, op;  ///< path of the layer, and Op::label
  std::string shapes;     ///< shapes of inputs and outputs: "128x784, 784x512 -> 128x512"
  std::string kernel;     ///< the kernel that runs it: "onednn brg:avx512_core"
  uint64_t calls = 0;
  double seconds = 0, flops = 0, bytes = 0;  ///< totals of all calls
  /// Estimated lower bounds of the time for each number of cores in kProfiledCores, from the way
  /// the work is divided; zeros when the device cannot estimate them.
  std::array<double, kProfiledCores.size()> seconds_on{};
  int64_t parts = 1;        ///< number of parts into which most of the work is divided
  double largest_part = 1;  ///< the fraction of the work that is in the largest part
};

class CRESCENT_API Executable {
 public:
  virtual ~Executable();
  /// Runs the program once. Any thread may call it. Several threads may call it at once, with
  /// different outputs and without a common variable that one of them writes; the runs take turns
  /// unless the executable allows runs that overlap. Tensors belong to the caller: no reference to
  /// them is kept after the run. `inputs` follow Program::inputs. `variables` follow
  /// Program::variables and are written in place; a run that throws writes none. `outputs` are
  /// allocated by the caller with the specs of Program::outputs. All are in Device::memory(); if
  /// that is host memory, inputs may be in any memory (Tensor::raw()). A run does not allocate. It
  /// calls Storage::bump_version for storages that it writes. Values computed from variables that
  /// are only read may be cached for later runs while the contents() of these variables are equal.
  virtual void run(std::span<const Tensor> inputs, std::span<Tensor> variables,
                   std::span<Tensor> outputs) = 0;
  virtual size_t arena_bytes() const = 0;  ///< memory for intermediate values
  /// An estimate of the memory that this executable owns, without memory that it shares with other
  /// executables. The default is arena_bytes().
  virtual size_t bytes() const;
  /// Starts or stops measuring the time of each instruction; starting sets the totals to zero.
  /// rows() returns the totals since then, in order of execution.
  virtual void profile(bool on) = 0;
  virtual std::vector<ProfileEntry> rows() const = 0;

  /// Called with a result: its index in Program::values, the kernel that computed it, and its bytes
  /// in host memory, which are valid only during the call. The call is on the thread of run().
  using Watcher = std::function<void(int value, const std::string& kernel, const void* bytes)>;
  /// Sets a function that is called after each instruction of a run for every result that is
  /// complete in memory. The executable keeps the function until another is set; an empty function
  /// removes it. Returns false when the device does not support watchers.
  virtual bool watch(Watcher watcher);
};

/// The families of lowered ops that a device has kernels for. Optimization passes make no lowered
/// ops of other families, so programs for a device without capabilities contain none.
struct Capabilities {
  bool fused = false;  ///< whether the device has Fused: a chain of elementwise ops as one op
  /// Whether the device has WithPostOps: products and convolutions apply post-ops before they store
  /// a result.
  bool post_ops = false;
  bool mixed = false;  ///< whether products of bfloat16 may read and write float32
  /// Whether batch norm in training reads moments that convolutions and elementwise chains output,
  /// instead of computing them from its input.
  bool moments = false;
  /// Whether the device has PoolArgmax and ConvPool: max pooling outputs argmax indices, and
  /// convolutions store pooled results.
  bool pooled = false;
};

class CRESCENT_API Device : public Plain {
 public:
  static constexpr const char* kKind = "device";
  ~Device() override;
  /// Whether the device has a kernel for the op on these specs. lower() (lowering.h) decomposes
  /// other ops or leaves them to the host.
  virtual bool supports(const Op& op, std::span<const TensorSpec> inputs,
                        std::span<const TensorSpec> outputs) const = 0;
  virtual Capabilities capabilities() const { return {}; }
  /// Compiles a program that was lowered for this device (lowering.h). The executable belongs to
  /// the caller. The program is valid only during the call; the executable may keep its ops and the
  /// storage of its constants, which are shared and never change.
  virtual std::unique_ptr<Executable> compile(const Program& program) = 0;
  /// The memory that programs read and write, which the device owns; null for host memory.
  virtual Memory* memory() { return nullptr; }
  /// Waits until all runs, reads and writes are done; throws an error that one of them raised.
  virtual void synchronize() {}
  /// Facts that `crescent info` prints: "threads", kernels, libraries, instruction sets.
  virtual Dict information() const = 0;
};

/// The device in use; initially the one named by the environment's CRESCENT_DEVICE, else "cpu".
CRESCENT_API Device& device();
/// Whether the device in use computes with op determinism (its option `deterministic`).
CRESCENT_API bool is_deterministic();
/// The cpu device, which also computes ops that other devices have no kernel for.
CRESCENT_API Device& host_device();
/// Sets the device in use and its options; options that are not given keep their values. There is
/// one device of each name, made on first use. For an unknown name, a plugin with that name is
/// searched for.
CRESCENT_API Device& set_device(std::string_view name, const Dict& options = {});

}  // namespace crescent
