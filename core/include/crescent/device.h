// Device: the only door to hardware. A device compiles a Program into an Executable. Devices are
// plugins of kind "device"; nothing outside a device knows of its memory except by asking a tensor
// for host values.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "crescent/registry.h"
#include "crescent/tensor.h"

namespace crescent {

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
  /// written in place; `outputs` are allocated by the caller with the specs of Program::outputs.
  /// Nothing is allocated. What is written is told to be (Storage::written); what was computed from
  /// variables that are only read may be used again in the next run while their contents() are the
  /// same.
  virtual void run(std::span<const Tensor> inputs, std::span<Tensor> variables,
                   std::span<Tensor> outputs) = 0;
  virtual size_t arena_bytes() const = 0;  ///< memory for intermediate values
  /// Times each instruction, from nothing (or stops); rows() are the totals since, in the order of
  /// running.
  virtual void profile(bool on) = 0;
  virtual std::vector<ProfileRow> rows() const = 0;
};

class CRESCENT_API Device : public Plain {
 public:
  static constexpr const char* kKind = "device";
  ~Device() override;
  /// The program must be optimised already (optimize()). Fails naming an op the device has no way
  /// to run.
  virtual std::unique_ptr<Executable> compile(const Program& program) = 0;
  /// Facts for `crescent info`: kernels, BLAS path and kind, core type, threads, instruction sets.
  virtual Dict information() const = 0;
  virtual void set_threads(int count) = 0;  ///< 0 = all cores this process may use
  virtual int threads() const = 0;
  virtual void set_deterministic(bool on) = 0;
};

/// The device in use; the "cpu" plugin is loaded on first use.
CRESCENT_API Device& device();

}  // namespace crescent
