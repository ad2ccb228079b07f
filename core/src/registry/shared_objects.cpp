#include "registry/shared_objects.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

namespace crescent {
namespace {

/// The objects in a configuration that with_shared_objects() makes. The first pass counts how often
/// each object occurs; the second pass numbers the objects that occur more than once.
struct SharingState {
  std::unordered_map<const Configurable*, int> use_counts;
  std::unordered_map<const Configurable*, int64_t> numbers;
  bool numbering = false;
};

thread_local SharingState* sharing = nullptr;

/// The shared_object_id in a configuration; nullopt if it has none.
std::optional<int64_t> number_of(const Dict& config) {
  const Value* number = config.find(kSharedNumber);
  return number && number->is_int() ? std::optional(number->as_int()) : std::nullopt;
}

}  // namespace

Dict with_shared_objects(const std::function<Dict()>& make) {
  if (sharing) return make();
  SharingState own_sharing;
  struct Scope {
    ~Scope() { sharing = nullptr; }
  } scope;
  sharing = &own_sharing;
  Dict result = make();
  own_sharing.numbering = std::any_of(own_sharing.use_counts.begin(), own_sharing.use_counts.end(),
                                      [](const auto& each) { return each.second > 1; });
  return own_sharing.numbering ? make() : result;
}

void mark_shared(Dict& made, const Configurable& object) {
  if (!sharing) return;
  if (!sharing->numbering) return void(++sharing->use_counts[&object]);
  if (sharing->use_counts[&object] < 2) return;
  const auto next_number = static_cast<int64_t>(sharing->numbers.size()) + 1;
  made.set(kSharedNumber, sharing->numbers.try_emplace(&object, next_number).first->second);
}

struct SharedObjects::Table {
  std::map<int64_t, std::shared_ptr<Configurable>> objects;
  static thread_local Table* current;
};
thread_local SharedObjects::Table* SharedObjects::Table::current = nullptr;

SharedObjects::SharedObjects(bool fresh) : outer_(Table::current) {
  if (outer_ && !fresh) return;
  table_ = std::make_unique<Table>();
  Table::current = table_.get();
}
SharedObjects::~SharedObjects() { Table::current = outer_; }

std::shared_ptr<Configurable> shared_object(const Dict& config) {
  const auto* table = SharedObjects::Table::current;
  const auto number = number_of(config);
  if (!table || !number) return nullptr;
  const auto found = table->objects.find(*number);
  return found == table->objects.end() ? nullptr : found->second;
}

void remember_shared(const Dict& config, const std::shared_ptr<Configurable>& object) {
  auto* table = SharedObjects::Table::current;
  if (const auto number = number_of(config); table && number) table->objects[*number] = object;
}

}  // namespace crescent
