// Datasets of classes that Lua derives from cr.data.Dataset, whose objects give batches by number.
#pragma once
#include "crescent/data/stream.h"
#include "instances/instance.h"

namespace crescent::lua {

/// An object whose class defines len(), the number of batches, and get(number), from 1.
class LuaDataset final : public Stream, public Instance {
 public:
  static constexpr const char* kKind = "dataset";
  std::string class_name() const override;
  int64_t elements() const override;
  bool on_own_thread() const override { return true; }
  /// Begins a pass in the order of the numbers.
  CursorPtr open(uint64_t epoch) override;
  /// Begins a pass in this order of numbers, from 0.
  CursorPtr open_in(std::vector<int64_t> order);
  /// What get() returns for a number from 0.
  Element batch(int64_t number) const;
  /// Calls on_epoch_begin() or on_epoch_end() if the class defines it.
  void call_if_defined(const char* hook) const;
};

/// What the registry makes by the name of a class of datasets: its stream() is an object of the
/// class. The options are those of that object.
class DatasetSource final : public Plain {
 public:
  static constexpr const char* kKind = LuaDataset::kKind;
  template <class T>
  static void describe_base(Schema<T>& s) {
    s.method("stream", &T::stream, "The batches, in the order of their numbers.");
  }
  Value option(const std::string& name) const { return data_->option(name); }
  void set_option(const std::string& name, const Value& value) { data_->set_option(name, value); }
  void configured() override { data_->start(); }
  const std::shared_ptr<LuaDataset>& stream() const { return data_; }
  void set_stream(std::shared_ptr<LuaDataset> data) { data_ = std::move(data); }

 private:
  std::shared_ptr<LuaDataset> data_ = std::make_shared<LuaDataset>();
};

/// The batches in a new random order in each pass.
StreamPtr shuffled(std::shared_ptr<LuaDataset> data);

}  // namespace crescent::lua
