#include "memory/prepack_cache.h"

#include <algorithm>

namespace crescent::cpu {

size_t PrepackKey::hash() const {
  size_t hash = op ? op->hash() : 0;
  auto mix = [&](const auto& field) { detail::mix(hash, detail::hash_field(field)); };
  mix(form), mix(output), mix(variable), mix(constant.storage), mix(constant.offset);
  for (const TensorSpec& spec : specs) {
    mix(spec.dtype);
    for (int64_t dim : spec.shape) mix(dim);
  }
  for (const PrepackedValuePtr& value : from) mix(value.get());
  return hash;
}

bool PrepackKey::operator==(const PrepackKey& other) const {
  const bool same_op = op && other.op ? op->equals(*other.op) : op == other.op;
  const bool same_constant =
      constant == other.constant || (constant.storage == 0 && other.constant.storage == 0);
  return same_op && same_constant && form == other.form && output == other.output &&
         specs == other.specs && from == other.from && variable == other.variable;
}

PrepackedValue::PrepackedValue(PrepackKey key) : key_(std::move(key)) {
  if (key_.variable) variables_ = {key_.variable};
  for (const PrepackedValuePtr& value : key_.from) {
    for (const void* variable : value->variables_) {
      if (std::find(variables_.begin(), variables_.end(), variable) == variables_.end())
        variables_.push_back(variable);
    }
  }
}

PrepackedValuePtr PrepackCache::find(PrepackKey key) {
  const size_t hash = key.hash();
  const std::lock_guard lock(mutex_);
  auto [entry, last] = values_.equal_range(hash);
  while (entry != last) {
    const PrepackedValuePtr value = entry->second.lock();
    if (value && value->key() == key) return value;
    entry = value ? std::next(entry) : values_.erase(entry);
  }
  if (values_.size() >= cleanup_size_) {
    std::erase_if(values_, [](const auto& entry) { return entry.second.expired(); });
    cleanup_size_ = std::max(kMinCleanupSize, 2 * values_.size());
  }
  auto value = std::make_shared<PrepackedValue>(std::move(key));
  values_.emplace(hash, value);
  return value;
}

/// Returns the memory for computing the value again. If other programs are running, they may be
/// reading the value's memory: new memory is allocated, and the old memory is kept in retired_.
/// Otherwise the memory is reused; a program that starts now sees version 0 and does not read it.
std::byte* PrepackCache::ExclusiveUpdate::begin(PrepackedValue& value, size_t bytes) {
  value.version_.store(0);
  const bool is_only_program = cache_.running_count_.load() == 1;
  if (value.memory_ && !is_only_program) {
    cache_.retired_.push_back(std::move(value.memory_));
    cache_.has_retired_.store(true);
  }
  if (!value.memory_) value.memory_ = Storage::allocate(bytes, false);
  return value.memory_->host();
}

void PrepackCache::ExclusiveUpdate::end(PrepackedValue& value, std::vector<Contents> contents) {
  value.variable_contents_ = std::move(contents);
  value.version_.store(++cache_.last_version_);
}

void PrepackCache::free_retired() {
  std::vector<std::shared_ptr<Storage>> retired;
  const std::lock_guard lock(mutex_);
  if (running_count_.load() > 0) return;
  retired.swap(retired_);
  has_retired_.store(false);
}

}  // namespace crescent::cpu
