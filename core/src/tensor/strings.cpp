// The table of interned texts. Garbage collection (a sweep) finds the texts in use by scanning
// every storage that holds strings as 8-byte ids. If 8 other bytes look like an id, a text is only
// kept longer than needed.
#include "tensor/strings.h"

#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <unordered_map>

namespace crescent {
namespace {

/// Texts by id. A text never moves in memory, so it is read without a lock.
class TextChunks {
 public:
  const std::string& operator[](uint64_t id) const {
    const auto [chunk, index] = chunk_and_index(id);
    return chunks_[chunk].load(std::memory_order_acquire)[index];
  }
  std::string& writable_text(uint64_t id) {
    const auto [chunk, index] = chunk_and_index(id);
    if (!chunks_[chunk].load(std::memory_order_relaxed))
      chunks_[chunk].store(new std::string[kFirstChunkTexts << chunk], std::memory_order_release);
    return chunks_[chunk].load(std::memory_order_relaxed)[index];
  }

 private:
  // Number of texts of the first chunk; each chunk is twice as large as the one before.
  static constexpr uint64_t kFirstChunkTexts = 1024;
  static std::pair<size_t, size_t> chunk_and_index(uint64_t id) {
    const uint64_t n = id + kFirstChunkTexts;
    const auto chunk = static_cast<size_t>(std::bit_width(n / kFirstChunkTexts) - 1);
    return {chunk, n - (kFirstChunkTexts << chunk)};
  }
  std::array<std::atomic<std::string*>, 44> chunks_{};
};

class StringTable {
 public:
  StringTable() { add(""); }

  std::string_view text(uint64_t id) const {
    if (id >= end_id_.load(std::memory_order_acquire))
      fail("an element of this tensor of strings was never given a value");
    return texts_[id];
  }

  StringId intern(std::string_view text) {
    const std::lock_guard lock(mutex_);
    return add(text);
  }

  Tensor tensor(std::span<const std::string> texts, const Shape& shape) {
    const std::lock_guard lock(mutex_);
    sweep_if_large();
    Tensor result = Tensor::uninitialized({DType::string, shape});
    auto* ids = reinterpret_cast<StringId*>(result.storage()->host());
    for (size_t i = 0; i < texts.size(); ++i) ids[i] = add(texts[i]);
    return result;
  }

  void watch(const std::shared_ptr<Storage>& storage) {
    const std::lock_guard lock(watched_mutex_);
    if (watched_storages_.size() >= 2 * watched_count_after_removal_) remove_expired();
    watched_storages_.insert_or_assign(storage.get(), storage);
  }

  void keep(const Tensor& tensor) {
    const std::lock_guard lock(mutex_);
    owned_tensors_.push_back(tensor);
  }

  size_t count() {
    const std::lock_guard lock(mutex_);
    return ids_.size();
  }

  /// Begins a run of a program with strings; waits while a sweep is in progress.
  void begin_run() {
    while (true) {
      run_count_.fetch_add(1);
      if (!is_sweeping_) return;
      run_count_.fetch_sub(1);
      const std::lock_guard lock(mutex_);
    }
  }
  void end_run() { run_count_.fetch_sub(1); }

 private:
  StringId add(std::string_view text) {
    if (const auto id_entry = ids_.find(text); id_entry != ids_.end())
      return StringId(id_entry->second);
    uint64_t id = end_id_.load(std::memory_order_relaxed);
    const bool reuses_id = !free_ids_.empty();
    if (reuses_id) id = free_ids_.back(), free_ids_.pop_back();
    std::string& stored_text = texts_.writable_text(id);
    stored_text = text;
    ids_.emplace(stored_text, id);
    if (!reuses_id) end_id_.store(id + 1, std::memory_order_release);
    return StringId(id);
  }

  void sweep_if_large() {
    if (ids_.size() < 2 * count_after_sweep_) return;
    is_sweeping_ = true;
    if (run_count_ == 0) sweep();
    is_sweeping_ = false;
  }

  /// Frees the texts that no storage contains. existing_storages() returns shared pointers to all
  /// storages, so none of them is destroyed during the sweep. If a string is copied from one
  /// storage to another meanwhile, the sweep finds it in the first one.
  void sweep() {
    std::vector<bool> is_used(end_id_.load());
    is_used[0] = true;
    for (const std::shared_ptr<Storage>& storage : existing_storages()) mark(*storage, is_used);
    for (auto entry = ids_.begin(); entry != ids_.end();) {
      const uint64_t id = entry->second;
      if (is_used[id]) {
        ++entry;
        continue;
      }
      entry = ids_.erase(entry);
      std::string().swap(texts_.writable_text(id));
      free_ids_.push_back(id);
    }
    count_after_sweep_ = std::max(kMinSweepCount, ids_.size());
  }

  static void mark(const Storage& storage, std::vector<bool>& is_used) {
    std::vector<uint64_t> words(storage.bytes() / sizeof(uint64_t));
    storage.read(0, words.size() * sizeof(uint64_t), words.data());
    for (uint64_t word : words)
      if (word < is_used.size()) is_used[word] = true;
  }

  std::vector<std::shared_ptr<Storage>> existing_storages() {
    const std::lock_guard lock(watched_mutex_);
    remove_expired();
    std::vector<std::shared_ptr<Storage>> storages;
    for (const auto& [address, weak_storage] : watched_storages_)
      if (auto storage = weak_storage.lock()) storages.push_back(std::move(storage));
    return storages;
  }

  /// Removes entries of destroyed storages, whose addresses may be reused.
  void remove_expired() {
    std::erase_if(watched_storages_, [](const auto& entry) { return entry.second.expired(); });
    watched_count_after_removal_ = std::max(kMinSweepCount, watched_storages_.size());
  }

  static constexpr size_t kMinSweepCount = 4096;

  std::mutex mutex_;  // locked before watched_mutex_ if both are locked
  TextChunks texts_;
  std::atomic<uint64_t> end_id_{0};  // all smaller ids are in use or free
  std::vector<uint64_t> free_ids_;
  std::unordered_map<std::string_view, uint64_t> ids_;
  size_t count_after_sweep_ = kMinSweepCount;
  Tensors owned_tensors_;

  std::mutex watched_mutex_;
  std::unordered_map<const Storage*, std::weak_ptr<Storage>> watched_storages_;
  size_t watched_count_after_removal_ = kMinSweepCount;

  std::atomic<int> run_count_{0};
  std::atomic<bool> is_sweeping_{false};
};

/// The table is never destroyed, because static objects may still hold tensors when the process
/// exits.
StringTable& string_table() {
  static auto* string_table = new StringTable;
  return *string_table;
}

}  // namespace

std::string_view text_of(StringId id) { return string_table().text(static_cast<uint64_t>(id)); }

StringId intern(std::string_view text) { return string_table().intern(text); }

Tensor string_tensor(std::span<const std::string> texts, const Shape& shape) {
  if (static_cast<int64_t>(texts.size()) != shape.size())
    fail("a tensor of strings of shape ", shape, " takes ", shape.size(), " texts, got ",
         texts.size());
  return string_table().tensor(texts, shape);
}

std::vector<std::string> strings_of(const Tensor& tensor) {
  const Tensor host_tensor = tensor.to(nullptr);
  const StringId* ids = host_tensor.data<StringId>();
  std::vector<std::string> texts(host_tensor.size());
  for (size_t i = 0; i < texts.size(); ++i) texts[i] = text_of(ids[i]);
  return texts;
}

size_t string_count() { return string_table().count(); }

void watch_strings(const std::shared_ptr<Storage>& storage) { string_table().watch(storage); }
void keep_strings(const Tensor& tensor) { string_table().keep(tensor); }

StringsInUse::StringsInUse() { string_table().begin_run(); }
StringsInUse::~StringsInUse() { string_table().end_run(); }

}  // namespace crescent
