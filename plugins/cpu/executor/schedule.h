// The schedule of a lowered program: steps that each have a kernel; reshapes become names for the
// same memory.
#pragma once
#include <memory>
#include <vector>

#include "crescent/program/program.h"
#include "kernel/kernel.h"

namespace crescent::cpu {

struct Step {
  std::unique_ptr<Kernel> kernel;
  OpPtr op;                          ///< null for a copy or a preparation
  std::vector<int> inputs, outputs;  ///< values
  int scope = 0;
  std::string form{};  ///< of a preparation
};

/// A program whose every step can run. Values that share memory have one root. The first steps, the
/// prepack steps, depend on constants and on variables that the program does not write; they run
/// again only when one of those has changed.
struct Schedule {
  Schedule(const Program& program, const Options& options, Pool& pool);

  TensorSpecs values;
  std::vector<int> inputs, outputs;  ///< values
  std::vector<Program::Constant> constants;
  struct Binding {
    int value, result;
  };  ///< result -1: only read
  std::vector<Binding> variables;
  std::vector<Step> steps;
  size_t prepack_steps = 0;  ///< so many at the beginning

  int root(int value) const { return alias_[static_cast<size_t>(value)]; }
  size_t bytes(int value) const;
  int add_value(const TensorSpec& spec);
  /// Appends a step that copies `value`; gives the value it makes.
  int add_copy(int value);

 private:
  void add(const Program::Instruction& instruction, const Options& options, Pool& pool);
  TensorSpecs specs(const std::vector<int>& list) const;
  void separate_prepack_steps();

  std::vector<int> alias_;  ///< per value: the root whose memory it names, itself for a root
};

/// Lets elementwise steps run within the products whose results they alone read.
void fuse_epilogues(Schedule& schedule);
/// Lets products sum the columns of what they multiply with.
void join_column_sums(Schedule& schedule);
/// Lets elementwise steps read slices where they lie.
void join_slices(Schedule& schedule, const Options& options);
/// Lets elementwise steps run within the reductions that alone read what they make.
void join_reductions(Schedule& schedule);

/// A scan compiles its body to a plan of its own.
std::unique_ptr<Kernel> make_scan(const Scan& scan, const Request& request, Pool& pool);
std::unique_ptr<Kernel> make_copy(size_t bytes);

}  // namespace crescent::cpu
