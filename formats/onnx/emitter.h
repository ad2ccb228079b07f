// Converts the instructions of a program to ONNX nodes. The nodes of an op are written by its op
// emitter (op_emitters.h), which gets the inputs of the instruction from this class and passes the
// results to it.
//
// Images of ONNX are channels first. A value may exist in two layouts, channels last and channels
// first. The second one is made by a transpose when it is needed; elementwise ops keep the layout
// of their inputs.
#pragma once
#include <set>

#include "two_traces.h"

namespace crescent::onnx {

/// The state that a graph and its nested bodies share.
struct File {
  Graph main;
  std::set<std::string> names;
  /// The names of the tensors, int64 (1,), that hold the sizes of dynamic axes; a name is "" before
  /// its first use.
  std::string dynamic_axes[kMaxDynamicAxes];
};

class Emitter {
 public:
  Emitter(File& file, Graph& graph, const TracedProgram& traced);

  /// Sets the name that a value of the program has in the graph or, if it is constant, its tensor.
  void bind(int value, const std::string& name) { info_of(value).channels_last = name; }
  void bind(int value, const Tensor& constant) { info_of(value).constant = constant; }
  /// Writes the nodes of every instruction.
  void run();
  std::string name_of(int value);

  // ---- for op emitters: inputs and outputs of the instruction by their positions
  size_t count() const { return instruction_->inputs.size(); }
  std::string input(size_t i) { return name_of(instruction_->inputs[i]); }
  std::string channels_first(size_t i) { return channels_first_name_of(instruction_->inputs[i]); }
  const TensorSpec& spec(size_t i = 0) const { return spec_of(instruction_->inputs[i]); }
  const Sizes& sizes(size_t i = 0) const { return sizes_of(instruction_->inputs[i]); }
  const TensorSpec& result_spec(size_t o = 0) const { return spec_of(instruction_->outputs[o]); }
  const Sizes& result_sizes(size_t o = 0) const { return sizes_of(instruction_->outputs[o]); }
  /// The value of input `i` if it is constant, else a null tensor.
  Tensor constant_input(size_t i) { return info_of(instruction_->inputs[i]).constant; }
  /// Whether the input is a constant of zeros.
  bool is_zero(size_t i);
  /// Whether another instruction, or the caller of the program, uses output `o`.
  bool is_read(size_t o) { return info_of(instruction_->outputs[o]).is_read; }
  void set_output(const std::string& name, size_t o = 0) {
    info_of(instruction_->outputs[o]).channels_last = name;
  }
  void set_channels_first_output(const std::string& name) {
    info_of(instruction_->outputs[0]).channels_first = name;
  }
  /// Whether the slice begins at a fixed distance from the end of this axis, not from its
  /// beginning.
  bool is_from_end(size_t axis) const { return traced_.is_from_end_by_axis.at(position())[axis]; }
  struct InputsInOneLayout {
    Names names;
    bool is_channels_first;
  };
  /// Converts all inputs of the instruction to one layout, channels first or channels last; returns
  /// the names of the converted inputs, and which layout it is.
  InputsInOneLayout inputs_in_one_layout();
  /// Sets the name of the result; `is_channels_first` is as returned by inputs_in_one_layout().
  void set_result(const std::string& name, bool is_channels_first);
  /// Converts the body of a scan to a graph.
  std::shared_ptr<const Graph> body(const Scan& scan);

  /// Adds a node with one output; returns the name of the output.
  std::string add_node(const std::string& type, Names inputs, Attributes attributes = {});
  Names add_nodes(const std::string& type, Names inputs, size_t outputs,
                  Attributes attributes = {});
  std::string add_transpose(const std::string& name, std::vector<int64_t> axes);
  std::string add_constant(const Tensor& tensor);
  std::string add_integers(const std::vector<int64_t>& values);
  /// Adds a scalar constant of this dtype; returns its name.
  std::string add_number(double value, DType dtype);
  /// Adds a shape as a tensor, in which symbolic sizes are computed from the inputs of the graph;
  /// returns its name.
  std::string shape(const Sizes& sizes);
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct ValueInfo {
    /// the names of the value in the two layouts: channels last (as in Crescent) and channels first
    std::string channels_last, channels_first;
    Tensor constant;
    bool is_read = false;
  };
  ValueInfo& info_of(int value) { return infos_[value]; }
  const TensorSpec& spec_of(int value) const { return traced_.program.values[value]; }
  const Sizes& sizes_of(int value) const { return traced_.sizes[value]; }
  size_t position() const {
    return static_cast<size_t>(instruction_ - traced_.program.code.data());
  }
  std::string channels_first_name_of(int value);
  std::string unique_name_in_layer(const std::string& base_name);
  const std::string& dynamic_axis(int axis);
  std::string size(int64_t size);
  std::string add_row_progression(const RowProgression& progression);
  /// Adds nodes that compute a tensor whose elements all equal the symbolic size `code`; returns
  /// its name.
  std::string add_filled_tensor(int64_t code, const TensorSpec& spec);
  bool fold();

  File& file_;
  Graph& graph_;
  const TracedProgram& traced_;
  std::vector<ValueInfo> infos_;
  const Program::Instruction* instruction_ = nullptr;
};

/// A name made from `base_name` that is not yet used in the file.
std::string unique_name(File& file, const std::string& base_name);

}  // namespace crescent::onnx
