// Schedule: a lowered program as steps that each have a kernel; reshapes become aliases of memory.
#pragma once
#include <memory>
#include <vector>

#include "crescent/program/program.h"
#include "kernel/kernel.h"

namespace crescent::cpu {

struct Step {
  std::unique_ptr<Kernel> kernel;
  OpPtr op;                          ///< null for a copy or a kernel's prepare()
  std::vector<int> inputs, outputs;  ///< values
  int scope = 0;
  std::string form{};  ///< the form of a prepared value, else empty
};

/// A program whose every step has a kernel. Values that share memory have one root. The first
/// steps, the prepack steps, depend only on constants and on variables that the program does not
/// write; they run again only when one of these variables has changed.
struct Schedule {
  Schedule(const Program& program, const Options& options, Pool& pool);

  TensorSpecs values;
  std::vector<int> inputs, outputs;  ///< values
  std::vector<Program::Constant> constants;
  struct Binding {
    int value, result;
  };  ///< result is -1 for a variable that is only read
  std::vector<Binding> variables;
  std::vector<Step> steps;
  size_t prepack_steps = 0;  ///< how many of the first steps are prepack steps

  int root(int value) const { return alias_[value]; }
  size_t bytes(int value) const;
  int add_value(const TensorSpec& spec);
  /// Appends a step that copies `value`; returns the copy.
  int add_copy(int value);

 private:
  void add(const Program::Instruction& instruction, const Options& options, Pool& pool);
  TensorSpecs specs(const std::vector<int>& list) const;
  void separate_prepack_steps();

  std::vector<int> alias_;  ///< per value: the root whose memory it shares; a root's is itself
};

/// Makes elementwise steps epilogues of the products whose results they alone read.
void fuse_epilogues(Schedule& schedule);
/// Makes products a'b also sum the columns of b.
void join_column_sums(Schedule& schedule);
/// Makes elementwise steps read slices directly from the arrays that these are cut from.
void join_slices(Schedule& schedule, const Options& options);
/// Makes elementwise steps run within the reductions that alone read their results.
void join_reductions(Schedule& schedule);

/// Makes the kernel of a scan, which compiles its body to a plan of its own.
std::unique_ptr<Kernel> make_scan(const Scan& scan, const Request& request, Pool& pool);
std::unique_ptr<Kernel> make_copy(size_t bytes);

}  // namespace crescent::cpu
