#include "program/program_cache.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

namespace crescent {
namespace {

constexpr size_t kDefaultBudget = size_t{16} << 20;
/// Programs used since the last kRecent additions are never dropped.
constexpr uint64_t kRecent = 16;

/// Reads CRESCENT_PROGRAM_CACHE, a number of bytes.
size_t budget_of_environment() {
  const char* text = std::getenv("CRESCENT_PROGRAM_CACHE");
  if (!text) return kDefaultBudget;
  char* end = nullptr;
  const unsigned long long bytes = std::strtoull(text, &end, 10);
  if (*text >= '0' && *text <= '9' && *end == '\0') return static_cast<size_t>(bytes);
  warn("CRESCENT_PROGRAM_CACHE: expected a number of bytes, got '", text, "'");
  return kDefaultBudget;
}

/// The program tables of all functions of this process, and the total number and size of their
/// programs. The object is never destroyed, because static objects may contain tables.
struct Cache {
  std::set<ProgramTable*> tables;
  size_t programs = 0, bytes = 0, budget = budget_of_environment();
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
  // `dropped` is destroyed after the lock is released, because a destructor of a program may call
  // functions of this class.
  Programs dropped;
  const std::lock_guard lock(mutex_);
  ++CachedProgram::clock_;
  program->touch();
  program->bytes_ = program->bytes();
  cache().bytes += program->bytes_, ++cache().programs;
  programs_.emplace(hash, std::move(program));
  if (cache().bytes > cache().budget) drop_oldest(dropped);
}

/// Removes the least recently used programs until the budget has some room for new ones.
void ProgramTable::drop_oldest(Programs& dropped) {
  struct EvictionCandidate {
    Programs* table;
    Programs::iterator at;
    uint64_t used;
  };
  std::vector<EvictionCandidate> candidates;
  for (ProgramTable* table : cache().tables) {
    for (auto at = table->programs_.begin(); at != table->programs_.end(); ++at)
      candidates.push_back({&table->programs_, at, at->second->last_use_.load()});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const EvictionCandidate& a, const EvictionCandidate& b) { return a.used < b.used; });
  const size_t enough = cache().budget - cache().budget / 8;
  for (const EvictionCandidate& candidate : candidates) {
    if (cache().bytes <= enough || candidate.used + kRecent > CachedProgram::clock_) return;
    cache().bytes -= candidate.at->second->bytes_, --cache().programs;
    dropped.insert(candidate.table->extract(candidate.at));
  }
}

void ProgramTable::clear() {
  Programs dropped;
  const std::lock_guard lock(mutex_);
  for (const auto& [hash, program] : programs_) cache().bytes -= program->bytes_;
  cache().programs -= programs_.size();
  dropped.swap(programs_);
}

size_t ProgramTable::size() const {
  const std::lock_guard lock(mutex_);
  return programs_.size();
}

void ProgramTable::clear_all() {
  std::vector<Programs> dropped;
  const std::lock_guard lock(mutex_);
  for (ProgramTable* table : cache().tables) dropped.push_back(std::exchange(table->programs_, {}));
  cache().programs = cache().bytes = 0;
}

ProgramCache ProgramTable::statistics() {
  const std::lock_guard lock(mutex_);
  return {cache().programs, cache().bytes, cache().budget};
}

void ProgramTable::set_budget(size_t bytes) {
  Programs dropped;
  const std::lock_guard lock(mutex_);
  cache().budget = bytes;
  if (cache().bytes > bytes) drop_oldest(dropped);
}

ProgramCache program_cache() { return ProgramTable::statistics(); }
void set_program_cache(size_t budget) { ProgramTable::set_budget(budget); }

}  // namespace crescent
