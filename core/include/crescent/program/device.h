// Device: the only door to hardware. A device compiles a Program into an Executable, which runs on
// memory of the device. Devices are plugins of kind "device"; nothing outside a device knows of its
// memory except by asking a tensor for host values.
//
// A device whose programs run on host memory has nothing to say about memory. One with its own
// derives Memory and DeviceStorage (tensor.h): allocate, read, write, and, if it can, copy. It may
// run programs while the host goes on: what is asked of it (runs, reads, writes) then happens in
// the order of asking, memory that a run uses stays until the run is over, and errors are told by
// the next read or synchronize().
//
// After a change of the device in use compiled functions are compiled anew, variables move when a
// program next uses them, and tensors stay where they are: programs get copies of them.
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

/// Cores for which a profile tells what the work would take.
inline constexpr std::array<int, 5> kProfiledCores = {1, 4, 8, 16, 32};

/// One row of a profile: an instruction kind within a layer.
struct ProfileRow {
  std::string scope, op;  ///< layer path, Op::label
  std::string shapes;     ///< of inputs and outputs, "128x784, 784x512 -> 128x512"
  std::string kernel;     ///< which runs it: "onednn brg:avx512_core"
  uint64_t calls = 0;
  double seconds = 0, flops = 0, bytes = 0;  ///< totals
  /// On so many of kProfiledCores the way the work is cut allows no less; zeros where the device
  /// does not know.
  std::array<double, kProfiledCores.size()> seconds_on{};
  int64_t parts = 1;        ///< into which most of the work is cut
  double largest_part = 1;  ///< its share of them
};

class CRESCENT_API Executable {
 public:
  virtual ~Executable();
  /// One run. `inputs` follow Program::inputs; `variables` follow Program::variables and are
  /// written in place, none of them in a run that throws; `outputs` are allocated by the caller
  /// with the specs of Program::outputs. All are in Device::memory(); where that is the host's,
  /// inputs may be in any memory (Tensor::raw()). Nothing is allocated. What is written is told to
  /// be (Storage::bump_version); what was computed from variables that are only read may be used
  /// again in the next run while their contents() are the same.
  virtual void run(std::span<const Tensor> inputs, std::span<Tensor> variables,
                   std::span<Tensor> outputs) = 0;
  virtual size_t arena_bytes() const = 0;  ///< memory for intermediate values
  /// Memory that goes with it, about: not what it shares with others. The default is arena_bytes().
  virtual size_t bytes() const;
  /// Times each instruction, from nothing (or stops); rows() are the totals since, in the order of
  /// running.
  virtual void profile(bool on) = 0;
  virtual std::vector<ProfileRow> rows() const = 0;

  /// Told of a result: its number among Program::values, the kernel that made it, and its bytes in
  /// the host's memory, which are others as soon as it returns.
  using Watcher = std::function<void(int value, const std::string& kernel, const void* bytes)>;
  /// From now on the watcher is told, behind each instruction of a run, of the results that are
  /// whole in memory; no watcher ends that. False: the device cannot tell.
  virtual bool watch(Watcher watcher);
};

/// Families of lowered forms that a device has kernels for. Passes make no others, so a device that
/// says nothing gets the ops that authors write.
struct Capabilities {
  bool fused = false;     ///< chains of elementwise ops as one
  bool post_ops = false;  ///< products and convolutions work on their results before storing them
  bool mixed = false;     ///< products of bfloat16 read and write float32
  bool moments = false;   ///< batch norm in training as moments, of a convolution too, and
                          ///< elementwise work
  bool pooled = false;    ///< max pooling gives argmax indices; convolutions store pooled results
};

class CRESCENT_API Device : public Plain {
 public:
  static constexpr const char* kKind = "device";
  ~Device() override;
  /// Whether it has a kernel for the op on these specs. What it does not take, lower() (lowering.h)
  /// writes in simpler ops or leaves to the host.
  virtual bool supports(const Op& op, std::span<const TensorSpec> inputs,
                        std::span<const TensorSpec> outputs) const = 0;
  virtual Capabilities capabilities() const { return {}; }
  /// The program must be lowered for this device: see lowering.h for what it holds.
  virtual std::unique_ptr<Executable> compile(const Program& program) = 0;
  /// Where its programs find and leave values; null: in the host's memory.
  virtual Memory* memory() { return nullptr; }
  /// Waits until all that was asked for is done; fails with what went wrong on the way.
  virtual void synchronize() {}
  /// Facts for `crescent info`: "threads", kernels, libraries, instruction sets.
  virtual Dict information() const = 0;
};

/// The device in use: at first that of the environment's CRESCENT_DEVICE, or "cpu".
CRESCENT_API Device& device();
/// The cpu: it computes what other devices have no kernel for.
CRESCENT_API Device& host_device();
/// Uses another device from now on; there is one of each name, which is made once. Options that are
/// not given stay as they are. A name that is not registered is looked for as that of a plugin.
CRESCENT_API Device& set_device(std::string_view name, const Dict& options = {});

}  // namespace crescent
