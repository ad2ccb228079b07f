#include "memory/stable_values.h"

#include <algorithm>

namespace crescent::cpu {

size_t Recipe::hash() const {
  size_t hash = op ? op->hash() : 0;
  auto mix = [&](const auto& field) { detail::mix(hash, detail::hash_field(field)); };
  mix(form), mix(output), mix(variable), mix(constant.storage), mix(constant.offset);
  for (const TensorSpec& spec : specs) {
    mix(spec.dtype);
    for (int64_t dim : spec.shape) mix(dim);
  }
  for (const StableValuePtr& value : from) mix(value.get());
  return hash;
}

bool Recipe::operator==(const Recipe& other) const {
  const bool same_op = op && other.op ? op->equals(*other.op) : op == other.op;
  const bool same_constant =
      constant == other.constant || (constant.storage == 0 && other.constant.storage == 0);
  return same_op && same_constant && form == other.form && output == other.output &&
         specs == other.specs && from == other.from && variable == other.variable;
}

StableValue::StableValue(Recipe recipe) : recipe_(std::move(recipe)) {
  if (recipe_.variable) variables_ = {recipe_.variable};
  for (const StableValuePtr& value : recipe_.from) {
    for (const void* variable : value->variables_) {
      if (std::find(variables_.begin(), variables_.end(), variable) == variables_.end())
        variables_.push_back(variable);
    }
  }
}

StableValuePtr StableValues::find(Recipe recipe) {
  const size_t hash = recipe.hash();
  const std::lock_guard lock(mutex_);
  auto [at, last] = values_.equal_range(hash);
  while (at != last) {
    const StableValuePtr value = at->second.lock();
    if (value && value->recipe() == recipe) return value;
    at = value ? std::next(at) : values_.erase(at);
  }
  if (values_.size() >= most_) {
    std::erase_if(values_, [](const auto& entry) { return entry.second.expired(); });
    most_ = std::max(kFew, 2 * values_.size());
  }
  auto value = std::make_shared<StableValue>(std::move(recipe));
  values_.emplace(hash, value);
  return value;
}

/// In its place where nobody can be reading it: those who begin to run now find no version.
std::byte* StableValues::Making::begin(StableValue& value, size_t bytes) {
  value.version_.store(0);
  const bool alone = values_.running_.load() == 1;
  if (value.memory_ && !alone) {
    values_.retired_.push_back(std::move(value.memory_));
    values_.has_retired_.store(true);
  }
  if (!value.memory_) value.memory_ = Storage::allocate(bytes, false);
  return value.memory_->host();
}

void StableValues::Making::end(StableValue& value, std::vector<Contents> of) {
  value.made_of_ = std::move(of);
  value.version_.store(++values_.versions_);
}

void StableValues::free_retired() {
  std::vector<std::shared_ptr<Storage>> retired;
  const std::lock_guard lock(mutex_);
  if (running_.load() > 0) return;
  retired.swap(retired_);
  has_retired_.store(false);
}

}  // namespace crescent::cpu
