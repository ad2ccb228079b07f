// A lowered program as a list of kernels, whose operands are memory locations: memory of the
// caller, or a block for constants and intermediate values.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "crescent/program/program.h"
#include "kernels.h"
#include "memory.h"

namespace crescent::far {

/// The counters that the device reports about itself.
struct DeviceCounters {
  std::atomic<int64_t> programs{0}, host_calls{0};
};

class KernelList {
 public:
  KernelList(const Program& program, Traffic& traffic, DeviceCounters& counters);

  struct Memory {
    std::vector<std::byte*> inputs, variables, outputs;
  };
  /// The size of the memory block that run() needs; put_constants() writes the constants into it
  /// once.
  size_t block_bytes() const { return block_bytes_; }
  void put_constants(std::byte* block) const;
  void run(const Memory& memory, std::byte* block);

  void profile(bool on);
  std::vector<ProfileEntry> rows() const;

 private:
  struct ValueLocation {
    enum class Kind { input, variable, block } kind = Kind::block;
    size_t at = 0;  ///< the number of the input or variable, or the offset in the block
  };
  struct Step {
    Kernel kernel;
    std::vector<ValueLocation> in, out;
    ProfileEntry row;
  };
  struct Copy {
    ValueLocation from;
    size_t to, bytes;  ///< index of the output or variable
  };

  ValueLocation add_block(size_t bytes);
  void add_step(const Program& program, const Program::Instruction& i, Traffic& traffic,
                DeviceCounters& counters);
  void add_results(const Program& program);
  static std::byte* find(const ValueLocation& location, const Memory& memory, std::byte* block);

  std::vector<ValueLocation> locations_;  ///< the location of each value
  std::vector<std::pair<ValueLocation, Tensor>> constants_;
  std::vector<Step> steps_;
  std::vector<Copy> old_values_, outputs_, variables_;  ///< copies done in this order at the end
  size_t block_bytes_ = 0;
  bool profiling_ = false;
};

}  // namespace crescent::far
