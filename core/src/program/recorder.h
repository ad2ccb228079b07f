// Recorder: turns ops on abstract tensors into a Program. One is current on a thread while a trace
// runs.
//
// A recorder of a scan body also takes what the body uses from around it: such tensors become
// further inputs of the body (captured()). The recorder of a whole program makes constants of
// concrete tensors instead.
#pragma once
#include <unordered_map>

#include "crescent/program/program.h"

namespace crescent {

class Recorder {
 public:
  enum class Kind : uint8_t { program, scan_body };
  explicit Recorder(Kind kind);  ///< becomes current, until it goes
  ~Recorder();
  Recorder(const Recorder&) = delete;

  static Recorder* current();
  static Recorder* set_current(Recorder* recorder);  ///< gives the one before

  Tensor add_input(const TensorSpec& spec);
  /// False when an abstract input belongs to nobody here: then nothing is recorded (shapes are
  /// being worked out).
  bool record(const OpPtr& op, std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  Tensor read(const Variable& variable);
  void assign(const Variable& variable, const Tensor& value);
  /// Records the tensors as what the program gives, and hands it over.
  Program finish(std::span<const Tensor> outputs);

  Tensors captured() const { return captured_; }
  int enter_scope(const std::string& name);  ///< gives the scope before
  int scope() const { return scope_; }
  /// Of those that were entered; others are ignored.
  void set_scope(int scope) {
    if (static_cast<size_t>(scope) < program_.scopes.size()) scope_ = scope;
  }

 private:
  struct Watched {
    size_t binding;
    Tensor current;
  };
  int find(const Tensor& tensor);  ///< its value number, -1 for an abstract tensor from elsewhere
  int add(const Tensor& tensor);   ///< a new value that this tensor stands for
  int add_constant(const Tensor& tensor);
  int add_scalar(const Tensor& tensor);
  int capture(const Tensor& tensor);
  Watched& binding_of(const Variable& variable);

  Kind kind_;
  Recorder* parent_;
  Program program_;
  std::unordered_map<const void*, int> values_;  ///< value id of a tensor -> number
  std::unordered_map<const void*, Watched> variables_;
  std::unordered_map<std::string, int> scalars_;  ///< dtype and bytes of a constant -> number
  std::unordered_map<std::string, int> scopes_;   ///< path -> index among the program's
  Tensors alive_;                                 ///< so that ids stay unique
  Tensors captured_;
  int scope_ = 0;
};

/// Applies the instructions of a program without variables to tensors: eager, traced or under a
/// tape.
Tensors replay(const Program& program, std::span<const Tensor> inputs);

}  // namespace crescent
