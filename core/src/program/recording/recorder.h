// Recorder: turns ops on abstract tensors into a Program. While a trace runs, its recorder is the
// current one of the thread.
//
// A recorder of a scan body also captures tensors of the enclosing code: they become further inputs
// of the body (captured()). The recorder of a whole program makes constants of concrete tensors.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "crescent/program/program.h"
#include "program/recording/interleaved.h"
#include "program/recording/storage_hold.h"

namespace crescent {

class Recorder {
 public:
  enum class Kind : uint8_t { program, scan_body };
  /// Makes this object the current recorder of the thread until its destruction.
  explicit Recorder(Kind kind);
  ~Recorder();
  Recorder(const Recorder&) = delete;

  CRESCENT_API static Recorder* current();
  /// Sets the current recorder and returns the one that was current before.
  static Recorder* set_current(Recorder* recorder);

  bool is_scan_body() const { return kind_ == Kind::scan_body; }
  Tensor add_input(const TensorSpec& spec);
  /// Returns false and records nothing if an abstract input does not belong to this trace, as it
  /// happens during shape inference.
  bool record(const OpPtr& op, std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  /// Adds an abstract tensor to the program as a value. A later call of define() must add the
  /// instruction that computes it.
  void declare(const Tensor& tensor) { add(tensor); }
  void define(const OpPtr& op, std::span<const Tensor> inputs, const Tensor& declared_result);
  size_t length() const { return program_.code.size(); }  ///< the number of instructions
  /// Orders the instructions of logical shards (interleaved.h).
  void interleave(const std::vector<ShardCuts>& shards) {
    crescent::interleave(program_.code, shards);
  }
  /// Declares that the backward pass of this program computes values again (rematerialization.h).
  void rematerialize() { is_rematerializing_ = true; }
  /// Declares that the computation of a gradient begins here. If a program computes several
  /// gradients, the last is its backward pass.
  void begin_gradient() { backward_ = length(); }
  Tensor read(const Variable& variable);
  void assign(const Variable& variable, const Tensor& value);
  /// Records that the program depends on the current bytes of the tensor's storage, which
  /// StorageHold keeps unchanged.
  void hold(const Tensor& tensor);
  /// Returns the holds of all storages on which the program depends; the caller must keep them
  /// while the program lives.
  std::vector<StorageHold> take_holds() { return std::move(holds_); }
  /// Records the outputs and returns the program.
  Program finish(std::span<const Tensor> outputs);

  Tensors captured() const { return captured_; }
  int enter_scope(const std::string& name);  ///< returns the scope that was current before
  int scope() const { return scope_; }
  /// Returns to a scope that was entered before; an unknown index is ignored.
  void set_scope(int scope) {
    if (static_cast<size_t>(scope) < program_.scopes.size()) scope_ = scope;
  }

 private:
  struct VariableEntry {
    size_t binding;  ///< index in Program::variables
    /// the value at this point of the program: the last one that was assigned, or before that the
    /// one with which the program starts
    Tensor current_value;
  };
  int find(const Tensor& tensor);  ///< the value number; -1 for an abstract tensor of another trace
  int add(const Tensor& tensor);   ///< adds a value for the tensor and returns its number
  int add_constant(const Tensor& tensor);
  int add_scalar(const Tensor& tensor);
  int capture(const Tensor& tensor);
  /// The entry of a variable; the first call for a variable adds it to the program.
  VariableEntry& entry_of(const Variable& variable);

  Kind kind_;
  Recorder* parent_;
  Program program_;
  /// maps the value id of a tensor to its value number
  std::unordered_map<const void*, int> values_;
  std::unordered_map<const void*, VariableEntry> variables_;
  /// maps dtype and bytes of a scalar to its value number
  std::unordered_map<std::string, int> scalars_;
  std::unordered_map<std::string, int> scopes_;  ///< maps a path to its index in Program::scopes
  Tensors kept_tensors_;                         ///< tensors kept so that their ids stay unique
  Tensors captured_;
  std::unordered_set<const Storage*> held_storages_;
  std::vector<StorageHold> holds_;  ///< holds of the storages in held_storages_
  int scope_ = 0;
  bool is_rematerializing_ = false;
  size_t backward_ = 0;  ///< the index of the first instruction of the backward pass
};

/// Like the public trace(), but also returns in `holds` the holds of the storages on which the
/// program depends.
Program trace(const std::function<Tensors(const Tensors&)>& f, std::span<const TensorSpec> inputs,
              std::vector<StorageHold>& holds);

/// Applies the instructions of a program without variables to tensors: eagerly, traced, or under a
/// tape.
Tensors replay(const Program& program, std::span<const Tensor> inputs);

}  // namespace crescent
