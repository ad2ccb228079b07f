// Datasets whose class Lua derives from cr.data.Dataset; they return batches by number.
#pragma once
#include "crescent/data/stream.h"
#include "instances/instance.h"

namespace crescent::lua {

/// An object whose Lua class defines len(), the number of batches, and get(number), which returns a
/// batch; numbers begin at 1.
class LuaDataset final : public Stream, public Instance {
 public:
  static constexpr const char* kKind = "dataset";
  std::string class_name() const override;
  int64_t elements() const override;
  bool on_own_thread() const override { return true; }
  /// Begins a pass over the batches in the order of their numbers.
  CursorPtr open(uint64_t epoch) override;
  /// Begins a pass over the batches in the given order of numbers, which begin at 0.
  CursorPtr open_in_order(std::vector<int64_t> order);
  /// The batch with this number, which begins at 0 (get() is called with number + 1).
  Element batch(int64_t number) const;
  /// Calls the hook on_epoch_begin() or on_epoch_end() if the Lua class defines it.
  void call_if_defined(const char* hook) const;
};

/// A wrapper that the registry makes for an object of a dataset class written in Lua; stream()
/// returns this object. The options of the wrapper are those of the object.
class DatasetSource final : public Plain {
 public:
  static constexpr const char* kKind = LuaDataset::kKind;
  template <class T>
  static void describe_base(Schema<T>& s) {
    s.method("stream", &T::stream, "Return the batches in the order of their numbers.");
  }
  Value option(const std::string& name) const { return data_->option(name); }
  void set_option(const std::string& name, const Value& value) { data_->set_option(name, value); }
  void configured() override { data_->start(); }
  const std::shared_ptr<LuaDataset>& stream() const { return data_; }
  void set_stream(std::shared_ptr<LuaDataset> data) { data_ = std::move(data); }

 private:
  std::shared_ptr<LuaDataset> data_ = std::make_shared<LuaDataset>();
};

/// A stream that returns the batches in a new random order in each pass.
StreamPtr shuffled_stream(std::shared_ptr<LuaDataset> data);

}  // namespace crescent::lua
