// The prepack cache: what programs compute from constants and from variables that they only read,
// such as a weight in the form that a kernel is fastest on. A value exists once, however many
// programs want it; it is made again when a variable that it was made of has changed, and goes with
// the last program that wants it.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "crescent/program/op.h"
#include "memory/uniform_constants.h"

namespace crescent::cpu {

class PrepackedValue;
using PrepackedValuePtr = std::shared_ptr<PrepackedValue>;

/// How a value is made: equal keys give equal bytes.
struct PrepackKey {
  OpPtr op;                             ///< null: a kernel brings the only input into another form
  std::string form;                     ///< of the kernel that makes it
  int output = 0;                       ///< which of the op's
  TensorSpecs specs;                    ///< of the inputs, then of itself
  std::vector<PrepackedValuePtr> from;  ///< the inputs
  const void* variable = nullptr;       ///< or it is a variable
  Contents constant;                    ///< or a constant

  size_t hash() const;
  bool operator==(const PrepackKey& other) const;
};

class PrepackedValue {
 public:
  explicit PrepackedValue(PrepackKey key);
  const PrepackKey& key() const { return key_; }
  /// Variables that it depends on, in an order that the key gives.
  const std::vector<const void*>& variables() const { return variables_; }
  /// Changes with the bytes and the place; 0 while it is being made.
  uint64_t version() const { return version_.load(); }

 private:
  friend class PrepackCache;
  PrepackKey key_;
  std::vector<const void*> variables_;
  std::atomic<uint64_t> version_{0};
  // Under the lock of PrepackCache:
  std::shared_ptr<Storage> memory_;
  std::vector<Contents> made_of_;  ///< of the variables
};

/// Those of a device.
class PrepackCache {
 public:
  /// The value of this key, as long as anybody has it.
  PrepackedValuePtr find(PrepackKey key);
  UniformConstants& constants() { return constants_; }

  /// While alive, a program runs: what it found valid stays as it is.
  class ExecutionScope {
   public:
    explicit ExecutionScope(PrepackCache& values) : values_(values) { ++values_.running_; }
    ~ExecutionScope() {
      if (--values_.running_ == 0 && values_.has_retired_.load()) values_.free_retired();
    }
    ExecutionScope(const ExecutionScope&) = delete;
    ExecutionScope& operator=(const ExecutionScope&) = delete;

   private:
    PrepackCache& values_;
  };

  /// While alive, nobody else makes values. For those who have an ExecutionScope.
  class Update {
   public:
    explicit Update(PrepackCache& values) : values_(values), lock_(values.mutex_) {}
    /// Made of these contents of its variables.
    bool is_made(const PrepackedValue& value, const std::vector<Contents>& of) const {
      return value.version() > 0 && value.made_of_ == of;
    }
    std::byte* memory(const PrepackedValue& value) const { return value.memory_->host(); }
    /// It is about to be made, here.
    std::byte* begin(PrepackedValue& value, size_t bytes);
    void end(PrepackedValue& value, std::vector<Contents> of);

   private:
    PrepackCache& values_;
    std::lock_guard<std::recursive_mutex> lock_;  // what makes a value may run a program
  };

 private:
  void free_retired();

  UniformConstants constants_;

  std::recursive_mutex mutex_;
  std::unordered_multimap<size_t, std::weak_ptr<PrepackedValue>> values_;  ///< by hash
  static constexpr size_t kFew = 256;
  size_t most_ = kFew;  ///< when there are so many, those that are gone are looked for
  std::atomic<int> running_{0};
  std::atomic<bool> has_retired_{false};
  std::vector<std::shared_ptr<Storage>> retired_;  ///< somebody may still read them
  uint64_t versions_ = 0;
};

}  // namespace crescent::cpu
