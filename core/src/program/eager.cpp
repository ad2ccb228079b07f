#include "program/eager.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>

#include "lowering/lowering.h"
#include "program/recorder.h"

namespace crescent {
namespace {

/// Executables of single ops, the most recently used first.
class Cache {
 public:
  std::shared_ptr<Executable> get(Device& device, const OpPtr& op, const TensorSpecs& in,
                                  const TensorSpecs& out) {
    const size_t key = key_of(*op, in);
    std::lock_guard lock(mutex_);
    auto [first, last] = index_.equal_range(key);
    for (auto at = first; at != last; ++at) {
      auto entry = at->second;
      if (entry->device == &device && entry->in == in && entry->op->equals(*op)) {
        entries_.splice(entries_.begin(), entries_, entry);
        return entry->executable;
      }
    }
    return add(key, device, op, in, out);
  }

 private:
  struct Entry {
    size_t key;
    const Device* device;
    OpPtr op;
    TensorSpecs in;
    std::shared_ptr<Executable> executable;
  };
  using Entries = std::list<Entry>;

  static size_t key_of(const Op& op, const TensorSpecs& in) {
    size_t key = op.hash();
    for (const TensorSpec& spec : in) {
      detail::mix(key, static_cast<size_t>(spec.dtype));
      for (int64_t dim : spec.shape) detail::mix(key, static_cast<size_t>(dim));
    }
    return key;
  }

  std::shared_ptr<Executable> add(size_t key, Device& device, const OpPtr& op,
                                  const TensorSpecs& in, const TensorSpecs& out) {
    std::shared_ptr<Executable> executable = compile(lowering::program_of(op, in, out), device);
    entries_.push_front({key, &device, op, in, executable});
    index_.emplace(key, entries_.begin());
    arena_bytes_ += executable->arena_bytes();
    while (entries_.size() > 1 && (entries_.size() > kMostEntries || arena_bytes_ > kMostBytes))
      drop_oldest();
    return executable;
  }

  void drop_oldest() {
    auto oldest = std::prev(entries_.end());
    auto [first, last] = index_.equal_range(oldest->key);
    index_.erase(
        std::find_if(first, last, [&](const auto& item) { return item.second == oldest; }));
    arena_bytes_ -= oldest->executable->arena_bytes();
    entries_.erase(oldest);
  }

  static constexpr size_t kMostEntries = 1024, kMostBytes = size_t{64} << 20;
  std::recursive_mutex mutex_;  // compiling may run ops (constants of a decomposed op)
  Entries entries_;
  std::unordered_multimap<size_t, Entries::iterator> index_;
  size_t arena_bytes_ = 0;
};

/// Never destroyed: the device's threads may be gone when static objects are.
Cache& cache() {
  static auto* cache = new Cache;
  return *cache;
}

}  // namespace

Tensors run_now(const OpPtr& op, std::span<const Tensor> inputs, const TensorSpecs& in,
                const TensorSpecs& out) {
  Device& device = crescent::device();
  Memory* const memory = device.memory();
  Tensors outputs;
  outputs.reserve(out.size());
  bool is_needed = op->effect() == Effect::ordered;
  for (const TensorSpec& spec : out) {
    outputs.push_back(Tensor::uninitialized(spec, memory));
    is_needed = is_needed || spec.shape.size() > 0;
  }
  if (!is_needed) return outputs;
  const auto executable = cache().get(device, op, in, out);
  if (!memory) return executable->run(inputs, {}, outputs), outputs;
  Tensors brought;
  for (const Tensor& input : inputs) brought.push_back(input.to(memory));
  executable->run(brought, {}, outputs);
  return outputs;
}

}  // namespace crescent
