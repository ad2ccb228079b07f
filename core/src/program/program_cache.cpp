#include "program/program_cache.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

namespace crescent {
namespace {

constexpr size_t kDefaultBudgetBytes = size_t{16} << 20;
/// Programs that were used since the last kRecentAdditions programs were added are never dropped.
constexpr uint64_t kRecentAdditions = 16;

/// Reads CRESCENT_PROGRAM_CACHE, a number of bytes.
size_t budget_of_environment() {
  const char* text = std::getenv("CRESCENT_PROGRAM_CACHE");
  if (!text) return kDefaultBudgetBytes;
  char* end = nullptr;
  const unsigned long long bytes = std::strtoull(text, &end, 10);
  if (*text >= '0' && *text <= '9' && *end == '\0') return static_cast<size_t>(bytes);
  warn("CRESCENT_PROGRAM_CACHE: expected a number of bytes, got '", text, "'");
  return kDefaultBudgetBytes;
}

/// The program tables of all functions of this process, and the total number and size of their
/// programs. The object is never destroyed, because static objects may contain tables.
struct Cache {
  std::set<ProgramTable*> tables;
  size_t program_count = 0, bytes = 0, budget = budget_of_environment();
};

Cache& cache() {
  static auto* cache = new Cache;
  return *cache;
}

}  // namespace

std::mutex ProgramTable::mutex_;

CachedProgram::~CachedProgram() = default;

ProgramTable::ProgramTable() {
  const std::lock_guard lock(mutex_);
  cache().tables.insert(this);
}

ProgramTable::~ProgramTable() {
  clear();
  const std::lock_guard lock(mutex_);
  cache().tables.erase(this);
}

void ProgramTable::add(size_t hash, std::shared_ptr<CachedProgram> program) {
  // `dropped_programs` is destroyed after the lock is released, because a destructor of a program
  // may call functions of this class.
  Programs dropped_programs;
  const std::lock_guard lock(mutex_);
  ++CachedProgram::clock_;
  program->touch();
  program->bytes_ = program->bytes();
  cache().bytes += program->bytes_, ++cache().program_count;
  programs_.emplace(hash, std::move(program));
  if (cache().bytes > cache().budget) drop_oldest(dropped_programs);
}

/// Removes the least recently used programs, until their memory is below the budget and there is
/// some room for new ones.
void ProgramTable::drop_oldest(Programs& dropped_programs) {
  struct EvictionCandidate {
    Programs* table;
    Programs::iterator position;
    uint64_t last_use;
  };
  std::vector<EvictionCandidate> candidates;
  for (ProgramTable* table : cache().tables) {
    for (auto entry = table->programs_.begin(); entry != table->programs_.end(); ++entry)
      candidates.push_back({&table->programs_, entry, entry->second->last_use_.load()});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const EvictionCandidate& a, const EvictionCandidate& b) {
              return a.last_use < b.last_use;
            });
  const size_t target_size = cache().budget - cache().budget / 8;
  for (const EvictionCandidate& candidate : candidates) {
    if (cache().bytes <= target_size ||
        candidate.last_use + kRecentAdditions > CachedProgram::clock_)
      return;
    cache().bytes -= candidate.position->second->bytes_, --cache().program_count;
    dropped_programs.insert(candidate.table->extract(candidate.position));
  }
}

void ProgramTable::clear() {
  Programs dropped_programs;
  const std::lock_guard lock(mutex_);
  for (const auto& [hash, program] : programs_) cache().bytes -= program->bytes_;
  cache().program_count -= programs_.size();
  dropped_programs.swap(programs_);
}

size_t ProgramTable::size() const {
  const std::lock_guard lock(mutex_);
  return programs_.size();
}

void ProgramTable::clear_all() {
  std::vector<Programs> dropped_programs;
  const std::lock_guard lock(mutex_);
  for (ProgramTable* table : cache().tables)
    dropped_programs.push_back(std::exchange(table->programs_, {}));
  cache().program_count = cache().bytes = 0;
}

ProgramCache ProgramTable::statistics() {
  const std::lock_guard lock(mutex_);
  return {cache().program_count, cache().bytes, cache().budget};
}

void ProgramTable::set_budget(size_t bytes) {
  Programs dropped_programs;
  const std::lock_guard lock(mutex_);
  cache().budget = bytes;
  if (cache().bytes > bytes) drop_oldest(dropped_programs);
}

ProgramCache program_cache() { return ProgramTable::statistics(); }
void set_program_cache(size_t budget) { ProgramTable::set_budget(budget); }

}  // namespace crescent
