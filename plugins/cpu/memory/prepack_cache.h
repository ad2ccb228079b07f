// The prepack cache: values that programs compute from constants and from variables that they only
// read, such as a weight in the layout with which a kernel is fastest. A value exists once, no
// matter how many programs use it; it is computed again when a variable on which it depends has
// changed, and is freed with the last program that uses it.
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

/// The key of a prepacked value: equal keys give equal bytes.
struct PrepackKey {
  OpPtr op;  ///< null for variables, constants and prepared values
  /// The form of a value that a kernel computes (InputConversion::form); else "variable" or
  /// "constant".
  std::string form;
  int output = 0;                       ///< index of the value among the op's outputs
  TensorSpecs specs;                    ///< dtypes and shapes of the inputs, then of the value
  std::vector<PrepackedValuePtr> from;  ///< the values from which it is computed
  /// A pointer that identifies the variable if the value is a variable, else null.
  const void* variable = nullptr;
  Contents constant;  ///< contents of a constant

  size_t hash() const;
  bool operator==(const PrepackKey& other) const;
};

class PrepackedValue {
 public:
  explicit PrepackedValue(PrepackKey key);
  const PrepackKey& key() const { return key_; }
  /// The variables on which the value depends, in an order that follows from the key.
  const std::vector<const void*>& variables() const { return variables_; }
  /// A number that changes whenever the bytes or their address change; 0 while the value is being
  /// computed.
  uint64_t version() const { return version_.load(); }

 private:
  friend class PrepackCache;
  PrepackKey key_;
  std::vector<const void*> variables_;
  std::atomic<uint64_t> version_{0};
  // These members are protected by the mutex of PrepackCache.
  std::shared_ptr<Storage> memory_;
  /// Contents of the variables when the value was computed.
  std::vector<Contents> variable_contents_;
};

/// The prepacked values of one device.
class PrepackCache {
 public:
  /// Finds or adds the value with this key. The cache itself only has weak pointers to values.
  PrepackedValuePtr find(PrepackKey key);
  UniformConstants& constants() { return constants_; }

  /// Marks a program as running during the lifetime of this object. Meanwhile values that the
  /// program has found valid do not change.
  class ExecutionScope {
   public:
    explicit ExecutionScope(PrepackCache& cache) : cache_(cache) { ++cache_.running_count_; }
    ~ExecutionScope() {
      if (--cache_.running_count_ == 0 && cache_.has_retired_.load()) cache_.free_retired();
    }
    ExecutionScope(const ExecutionScope&) = delete;
    ExecutionScope& operator=(const ExecutionScope&) = delete;

   private:
    PrepackCache& cache_;
  };

  /// An exclusive update of values: other threads cannot begin an update during its lifetime. The
  /// thread must also hold an ExecutionScope.
  class ExclusiveUpdate {
   public:
    explicit ExclusiveUpdate(PrepackCache& cache) : cache_(cache), lock_(cache.mutex_) {}
    /// Whether `value` was computed while its variables had these contents.
    bool is_current(const PrepackedValue& value, const std::vector<Contents>& contents) const {
      return value.version() > 0 && value.variable_contents_ == contents;
    }
    std::byte* memory(const PrepackedValue& value) const { return value.memory_->host(); }
    /// Returns the memory to which the caller must write the value; end() then marks the value as
    /// valid.
    std::byte* begin(PrepackedValue& value, size_t bytes);
    void end(PrepackedValue& value, std::vector<Contents> contents);

   private:
    PrepackCache& cache_;
    // recursive, because computing a value may run a program
    std::lock_guard<std::recursive_mutex> lock_;
  };

 private:
  void free_retired();

  UniformConstants constants_;

  std::recursive_mutex mutex_;
  /// The values by the hash of their PrepackKey.
  std::unordered_multimap<size_t, std::weak_ptr<PrepackedValue>> values_;
  static constexpr size_t kMinCleanupSize = 256;
  /// Number of values above which expired pointers are removed.
  size_t cleanup_size_ = kMinCleanupSize;
  std::atomic<int> running_count_{0};
  std::atomic<bool> has_retired_{false};
  /// Replaced memory that a running program may still read.
  std::vector<std::shared_ptr<Storage>> retired_;
  uint64_t last_version_ = 0;
};

}  // namespace crescent::cpu
