// Lowering: from a program to steps that each have a kernel. Ops without one are taken apart;
// reshapes become names for the same memory.
#pragma once
#include <memory>
#include <vector>

#include "crescent/program.h"
#include "engine/kernel.h"

namespace crescent::cpu {

struct Step {
  std::unique_ptr<Kernel> kernel;
  OpPtr op;                          ///< null for a copy or a preparation
  std::vector<int> inputs, outputs;  ///< values
  int scope = 0;
  std::string form{};  ///< of a preparation
};

/// A program whose every step can run. Values that share memory have one root. The first steps, the
/// prologue, depend on constants and on variables that the program does not write; they run again
/// only when one of those has changed.
struct Lowered {
  Lowered(const Program& program, const Options& options, Pool& pool);

  TensorSpecs values;
  std::vector<int> inputs, outputs;  ///< values
  std::vector<Program::Constant> constants;
  struct Binding {
    int value, result;
  };  ///< result -1: only read
  std::vector<Binding> variables;
  std::vector<Step> steps;
  size_t prologue = 0;  ///< so many steps

  int root(int value) const;
  size_t bytes(int value) const;
  int add_value(const TensorSpec& spec);
  /// Appends a step that copies `value`; gives the value it makes.
  int add_copy(int value);

 private:
  void lower(const Program::Instruction& instruction, const Options& options, Pool& pool);
  bool splice_decomposed(const Program::Instruction& instruction, const Options& options,
                         Pool& pool);
  TensorSpecs specs(const std::vector<int>& list) const;
  void separate_prologue();

  std::vector<int> alias_;  ///< per value: the value whose memory it names, itself for a root
};

/// Puts checks of what the program is given, with what they need, before all other steps.
void put_checks_first(Lowered& program);
/// Lets elementwise steps run within the products whose results they alone read.
void join_followers(Lowered& program);
/// Lets products sum the columns of what they multiply with.
void join_column_sums(Lowered& program);

/// A scan compiles its body to a plan of its own.
std::unique_ptr<Kernel> make_scan(const Scan& scan, const Request& request, Pool& pool);
/// Calls op.compute(); null when the op has none.
std::unique_ptr<Kernel> make_computed(OpPtr op, const Request& request);
std::unique_ptr<Kernel> make_copy(size_t bytes);
/// For results without elements.
std::unique_ptr<Kernel> make_nothing();

}  // namespace crescent::cpu
