#include "handles.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace crescent::c {
namespace {

constexpr uintptr_t kMaxKinds = 16;

struct HandleTable {
  std::shared_mutex mutex;
  uintptr_t last_number = 0;
  std::unordered_map<uintptr_t, std::shared_ptr<void>> objects;
};

/// The table is never destroyed, because threads may still use handles while the process ends.
HandleTable& table() {
  static auto* const shared_table = new HandleTable;
  return *shared_table;
}

bool is_of_kind(uintptr_t number, HandleKind kind) {
  return number % kMaxKinds == static_cast<uintptr_t>(kind);
}

}  // namespace

uintptr_t add_handle(HandleKind kind, std::shared_ptr<void> object) {
  HandleTable& handles = table();
  const std::unique_lock lock(handles.mutex);
  const uintptr_t number = (handles.last_number + 1) * kMaxKinds + static_cast<uintptr_t>(kind);
  handles.objects.emplace(number, std::move(object));
  ++handles.last_number;
  return number;
}

std::shared_ptr<void> find_handle(HandleKind kind, const void* handle) {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (!is_of_kind(number, kind)) return nullptr;
  HandleTable& handles = table();
  const std::shared_lock lock(handles.mutex);
  const auto handle_entry = handles.objects.find(number);
  return handle_entry == handles.objects.end() ? nullptr : handle_entry->second;
}

void remove_handle(HandleKind kind, const void* handle) {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (!is_of_kind(number, kind)) return;
  // `object` is destroyed after `lock`, because its destructor may call functions of this file
  std::shared_ptr<void> object;
  HandleTable& handles = table();
  const std::unique_lock lock(handles.mutex);
  const auto handle_entry = handles.objects.find(number);
  if (handle_entry == handles.objects.end()) return;
  object = std::move(handle_entry->second);
  handles.objects.erase(handle_entry);
}

}  // namespace crescent::c
