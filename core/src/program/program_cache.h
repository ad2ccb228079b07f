// Compiled programs of the process. Each function has a table of its own, and so has what runs op
// by op. All tables together keep within a budget of bytes: beyond it those programs go that were
// not used for longest, but for the last few. A program that goes is freed by the last who runs it.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "crescent/program/program.h"

namespace crescent {

/// What a table holds.
class CachedProgram {
 public:
  virtual ~CachedProgram();
  /// Memory that goes with it, about.
  virtual size_t bytes() const = 0;
  /// It is used now: the clock counts the programs that were added to a table.
  void touch() { used_.store(clock_.load(std::memory_order_relaxed), std::memory_order_relaxed); }

 private:
  friend class ProgramTable;
  inline static std::atomic<uint64_t> clock_{0};
  std::atomic<uint64_t> used_{0};
  size_t bytes_ = 0;  ///< when it was added
};

/// Any thread may use any table.
class ProgramTable {
 public:
  ProgramTable();
  ~ProgramTable();
  ProgramTable(const ProgramTable&) = delete;
  ProgramTable& operator=(const ProgramTable&) = delete;

  /// The program of this hash for which is_wanted(program) holds, or what make() gives, which is a
  /// shared pointer to one.
  template <class T, class F, class Make>
  std::shared_ptr<T> find_or_make(size_t hash, const F& is_wanted, const Make& make) {
    if (auto program = find<T>(hash, is_wanted)) return program;
    std::shared_ptr<T> made = make();
    add(hash, made);
    return made;
  }
  void clear();
  size_t size() const;

  // Of all tables.
  static void clear_all();
  static ProgramCache facts();
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
  /// Drops others, of any table, where all are too many now.
  void add(size_t hash, std::shared_ptr<CachedProgram> program);
  static void drop_oldest(Programs& dropped);

  static std::mutex mutex_;  ///< of all tables
  Programs programs_;
};

/// Goes on with the hash of a signature.
inline void mix(size_t& hash, const TensorSpec& spec) {
  detail::mix(hash, static_cast<size_t>(spec.dtype));
  for (int64_t dim : spec.shape) detail::mix(hash, static_cast<size_t>(dim));
}

}  // namespace crescent
