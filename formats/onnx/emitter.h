// Writes the instructions of a program as nodes. Op emitters (op_emitters.h) say for each op which
// nodes it is; they ask the emitter for what an instruction reads and give it what it makes.
//
// ONNX has images channels first. A value may be known in both forms; the other one is made, by a
// transpose, when somebody asks for it, and elementwise ops keep the form that they find.
#pragma once
#include <set>

#include "two_traces.h"

namespace crescent::onnx {

/// What a graph and the bodies inside it share.
struct File {
  Graph main;
  std::set<std::string> names;
  /// Names of the sizes of open axes, int64 of shape (1,); "" until one is needed.
  std::string open_axes[kOpenAxes];
};

class Emitter {
 public:
  Emitter(File& file, Graph& graph, const Traced& traced);

  /// Makes a value known by a name, or as numbers.
  void bind(int value, const std::string& name) { at(value).last = name; }
  void bind(int value, const Tensor& constant) { at(value).constant = constant; }
  /// Writes every instruction.
  void run();
  std::string name_of(int value);

  // ---- for rows: inputs and outputs of the instruction by their positions
  size_t count() const { return now_->inputs.size(); }
  std::string input(size_t i) { return name_of(now_->inputs[i]); }
  std::string channels_first(size_t i) { return first_name_of(now_->inputs[i]); }
  const TensorSpec& spec(size_t i = 0) const { return spec_of(now_->inputs[i]); }
  const Sizes& sizes(size_t i = 0) const { return sizes_of(now_->inputs[i]); }
  const TensorSpec& result_spec(size_t o = 0) const { return spec_of(now_->outputs[o]); }
  const Sizes& result_sizes(size_t o = 0) const { return sizes_of(now_->outputs[o]); }
  /// The numbers of an input; no tensor where they are not known.
  Tensor known(size_t i) { return at(now_->inputs[i]).constant; }
  /// Is zero everywhere.
  bool is_zero(size_t i);
  bool is_read(size_t o) { return at(now_->outputs[o]).is_read; }
  void give(const std::string& name, size_t o = 0) { at(now_->outputs[o]).last = name; }
  void give_channels_first(const std::string& name) { at(now_->outputs[0]).first = name; }
  /// The slice is counted from the end along this axis.
  bool is_from_end(size_t axis) const { return traced_.from_end.at(position())[axis]; }
  /// Names of all inputs in one form, and whether that is channels first.
  std::pair<Names, bool> aligned();
  /// Gives the result in the form of aligned().
  void give_aligned(const std::string& name, bool first);
  /// The scan's body as a graph of its own.
  std::shared_ptr<const Graph> body(const Scan& scan);

  /// A node with one output.
  std::string node(const std::string& type, Names inputs, Attributes attributes = {});
  Names nodes(const std::string& type, Names inputs, size_t outputs, Attributes attributes = {});
  std::string transposed(const std::string& name, std::vector<int64_t> axes);
  std::string constant(const Tensor& tensor);
  std::string integers(const std::vector<int64_t>& values);
  /// One number of this type.
  std::string number(double value, DType dtype);
  /// These dimensions as a tensor, computed from the inputs where they are open.
  std::string shape(const Sizes& sizes);
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct Form {
    std::string last, first;  ///< names, channels last (as it is) and channels first
    Tensor constant;
    bool is_read = false;
  };
  Form& at(int value) { return forms_[value]; }
  const TensorSpec& spec_of(int value) const { return traced_.program.values[value]; }
  const Sizes& sizes_of(int value) const { return traced_.sizes[value]; }
  size_t position() const { return static_cast<size_t>(now_ - traced_.program.code.data()); }
  std::string first_name_of(int value);
  std::string unique(const std::string& wanted);
  const std::string& open_axis(int axis);
  std::string size(int64_t size);
  std::string rows_of(const RowProgression& counted);
  std::string filled_with(int64_t code, const TensorSpec& spec);
  bool fold();

  File& file_;
  Graph& graph_;
  const Traced& traced_;
  std::vector<Form> forms_;
  const Program::Instruction* now_ = nullptr;
};

/// A name that nothing in the file has.
std::string unique_name(File& file, const std::string& wanted);

}  // namespace crescent::onnx
