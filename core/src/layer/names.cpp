// Default names of layers: dense_1, dense_2, counted per class.
#include <map>
#include <mutex>

#include "base/text.h"
#include "crescent/layer/layer.h"
#include "program/program_cache.h"
#include "tensor/memory.h"

namespace crescent {
namespace {

struct Counters {
  std::mutex mutex;
  std::map<std::string, int64_t, std::less<>> counts;
};

Counters& counters() {
  static Counters counters;
  return counters;
}

}  // namespace

std::string to_snake_case(std::string_view class_name) { return snake_case(class_name); }

std::string unique_name(std::string_view base) {
  Counters& name_counters = counters();
  const std::lock_guard lock(name_counters.mutex);
  return concat(base, "_", ++name_counters.counts[std::string(base)]);
}

void clear_session() {
  Counters& name_counters = counters();
  {
    const std::lock_guard lock(name_counters.mutex);
    name_counters.counts.clear();
  }
  ProgramTable::clear_all();
  give_back_memory();
}

}  // namespace crescent
