#include "classes/lua_dataset.h"

#include <algorithm>
#include <numeric>

#include "classes/named_errors.h"
#include "crescent/ops/random.h"
#include "lua/state.h"
#include "workers/worker_state.h"

namespace crescent::lua {
namespace {

/// Returns the batches of a dataset in the given order. pass() skips batches without computing
/// them.
class BatchCursor final : public Cursor {
 public:
  BatchCursor(std::shared_ptr<const LuaDataset> data, std::vector<int64_t> order)
      : data_(std::move(data)), order_(std::move(order)) {}
  bool next(Element& element) override {
    if (position_ == order_.size()) return end();
    element = data_->batch(order_[position_++]);
    return true;
  }
  int64_t pass(int64_t count) override {
    const auto skipped_count = std::min(static_cast<size_t>(count), order_.size() - position_);
    position_ += skipped_count;
    return static_cast<int64_t>(skipped_count);
  }

 private:
  bool end() {
    if (!std::exchange(has_ended_, true)) data_->call_if_defined("on_epoch_end");
    return false;
  }

  std::shared_ptr<const LuaDataset> data_;
  std::vector<int64_t> order_;
  size_t position_ = 0;
  bool has_ended_ = false;
};

/// The batches in a random order, which is derived from a seed and the number of the pass (epoch).
class ShuffledBatches final : public Stream {
 public:
  explicit ShuffledBatches(std::shared_ptr<LuaDataset> data)
      : data_(std::move(data)), seed_(global_random().seed()) {}
  int64_t elements() const override { return data_->elements(); }
  std::vector<StreamPtr> sources() const override { return {data_}; }
  CursorPtr open(uint64_t epoch) override {
    const PhiloxBlock key = philox(static_cast<uint64_t>(seed_), epoch, 0);
    const SeedGenerator order_generator(int64_t{key.word[0]});
    return data_->open_in_order(order_generator.permutation(data_->elements()));
  }

 protected:
  Value own_state() const override { return seed_; }
  void set_own_state(const Value& state) override { seed_ = state.as_int(); }

 private:
  std::shared_ptr<LuaDataset> data_;
  int64_t seed_;
};

}  // namespace

std::string LuaDataset::class_name() const {
  const Value name = attribute("__name");
  return name.is_string() ? name.as_string() : "Dataset";
}

int64_t LuaDataset::elements() const {
  return named_in_errors(class_name(), [&] {
    lua_State* L = current();
    const StackRestorer restorer(L);
    invoke(L, "len", 1);
    if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 0)
      fail("len(): expected a number of batches, got ", describe(L, -1));
    return int64_t{lua_tointeger(L, -1)};
  });
}

CursorPtr LuaDataset::open(uint64_t) {
  std::vector<int64_t> order(static_cast<size_t>(elements()));
  std::iota(order.begin(), order.end(), 0);
  return open_in_order(std::move(order));
}

CursorPtr LuaDataset::open_in_order(std::vector<int64_t> order) {
  call_if_defined("on_epoch_begin");
  const auto self = std::static_pointer_cast<const LuaDataset>(shared_from_this());
  return std::make_shared<BatchCursor>(self, std::move(order));
}

Element LuaDataset::batch(int64_t number) const {
  return named_in_errors(concat(class_name(), ": get(", number + 1, ")"), [&] {
    lua_State* L = current();
    const StackRestorer restorer(L);
    const int first_result = lua_gettop(L) + 1;
    invoke(L, "get", LUA_MULTRET, number + 1);
    Element batch = element_from(L, first_result);
    if (batch.empty()) fail("expected x, y, sample_weight of a batch, got nothing");
    return batch;
  });
}

void LuaDataset::call_if_defined(const char* hook) const {
  if (!has(hook)) return;
  named_in_errors(class_name(), [&] {
    lua_State* L = current();
    const StackRestorer restorer(L);
    invoke(L, hook, 0);
  });
}

StreamPtr shuffled_stream(std::shared_ptr<LuaDataset> data) {
  return std::make_shared<ShuffledBatches>(std::move(data));
}

}  // namespace crescent::lua
