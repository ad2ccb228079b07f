// Schedule: a lowered program as a list of steps, each with a kernel. A reshape is no step: its
// result shares the memory of its input.
#pragma once
#include <memory>
#include <vector>

#include "crescent/program/program.h"
#include "kernel/kernel.h"

namespace crescent::cpu {

struct Step {
  std::unique_ptr<Kernel> kernel;
  /// Null if the step is a copy, or a kernel that Kernel::prepare() returned.
  OpPtr op;
  std::vector<int> inputs, outputs;  ///< indices of values
  int scope = 0;
  std::string form{};  ///< for a prepared value, the text that identifies its layout; else empty
  /// Whether the step exchanges data with other processes while the steps after it run, up to the
  /// next one that awaits exchanges.
  bool is_overlapped = false;
  bool awaits_exchanges = false;  ///< whether exchanges must have ended before the step runs
};

/// A program whose every step has a kernel. If several values share memory, one of them is their
/// root, by whose index the memory is identified. The first steps, the prepack steps, depend only
/// on constants and on variables that the program does not write; they run again only if one of
/// these variables has changed.
struct Schedule {
  Schedule(const Program& program, const Options& options, Pool& pool);

  TensorSpecs values;
  std::vector<int> inputs, outputs;  ///< indices of values
  std::vector<Program::Constant> constants;
  struct Binding {
    int value, result;
  };  ///< result is -1 if the program only reads the variable
  std::vector<Binding> variables;
  std::vector<Step> steps;
  size_t prepack_steps = 0;  ///< the number of prepack steps, which come first

  int root(int value) const { return roots_[value]; }
  size_t bytes(int value) const;
  int add_value(const TensorSpec& spec);
  /// Appends a step that copies `value`; returns the index of the copy.
  int add_copy(int value);

 private:
  void add(const Program::Instruction& instruction, const Options& options, Pool& pool);
  TensorSpecs specs(const std::vector<int>& list) const;
  void separate_prepack_steps();

  /// For each value, the root value whose memory it shares, perhaps itself.
  std::vector<int> roots_;
};

/// Joins elementwise steps with matrix products: an elementwise step that alone reads the result of
/// a product becomes the product's epilogue.
void fuse_epilogues(Schedule& schedule);
/// Makes matrix products a'b also compute the sums of the columns of b, if a step computes these
/// sums.
void join_column_sums(Schedule& schedule);
/// Makes elementwise steps read slices directly from the arrays from which these are cut.
void join_slices(Schedule& schedule, const Options& options);
/// Makes reductions compute elementwise steps whose results are read by these reductions only.
void join_reductions(Schedule& schedule);
/// Moves exchanges with other processes to where their data are ready, and finds those that run
/// while later steps compute.
void overlap_exchanges(Schedule& schedule);

/// Makes the kernel of a scan, which compiles the scan's body to a separate plan.
std::unique_ptr<Kernel> make_scan(const Scan& scan, const Request& request, Pool& pool);
std::unique_ptr<Kernel> make_copy(size_t bytes);

}  // namespace crescent::cpu
