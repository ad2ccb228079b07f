// The compiled programs of the process. Each Function has a table, and eager execution has one. All
// tables share a budget of bytes. When it is exceeded, the least recently used programs are
// dropped, but never the last few that were used. A dropped program is freed when its last run
// ends.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "crescent/program/program.h"

namespace crescent {

/// Base class of the programs in a table.
class CachedProgram {
 public:
  virtual ~CachedProgram();
  /// Estimate of the memory that the program owns.
  virtual size_t bytes() const = 0;
  /// Marks the program as used now. Time is measured by the number of programs that were added to
  /// tables so far.
  void touch() {
    last_use_.store(clock_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

 private:
  friend class ProgramTable;
  inline static std::atomic<uint64_t> clock_{0};
  std::atomic<uint64_t> last_use_{0};
  size_t bytes_ = 0;  ///< value of bytes() when the program was inserted
};

/// A table of programs. All tables are thread-safe.
class ProgramTable {
 public:
  ProgramTable();
  ~ProgramTable();
  ProgramTable(const ProgramTable&) = delete;
  ProgramTable& operator=(const ProgramTable&) = delete;

  /// Returns the program with this hash for which is_wanted(program) is true; otherwise inserts and
  /// returns the result of make(), a shared pointer to a T.
  template <class T, class F, class Make>
  std::shared_ptr<T> find_or_make(size_t hash, const F& is_wanted, const Make& make) {
    if (auto program = find<T>(hash, is_wanted)) return program;
    std::shared_ptr<T> new_program = make();
    add(hash, new_program);
    return new_program;
  }
  void clear();
  size_t size() const;

  // The following functions concern all tables.
  static void clear_all();
  static ProgramCache statistics();
  static void set_budget(size_t bytes);

 private:
  using Programs = std::unordered_multimap<size_t, std::shared_ptr<CachedProgram>>;
  template <class T, class F>
  std::shared_ptr<T> find(size_t hash, const F& is_wanted) const {
    const std::lock_guard lock(mutex_);
    auto [first, last] = programs_.equal_range(hash);
    for (; first != last; ++first) {
      auto program = std::static_pointer_cast<T>(first->second);
      if (is_wanted(*program)) return program->touch(), program;
    }
    return nullptr;
  }
  /// Inserts the program and drops others, of any table, when the budget is exceeded.
  void add(size_t hash, std::shared_ptr<CachedProgram> program);
  static void drop_oldest(Programs& dropped_programs);

  static std::mutex mutex_;  ///< shared by all tables
  Programs programs_;
};

/// Combines the hash of a signature with the hash of a spec.
inline void mix(size_t& hash, const TensorSpec& spec) {
  detail::mix(hash, static_cast<size_t>(spec.dtype));
  for (int64_t dim : spec.shape) detail::mix(hash, static_cast<size_t>(dim));
}

}  // namespace crescent
