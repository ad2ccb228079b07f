// Datasets of classes that Lua derives from cr.data.Dataset, whose objects give batches by number.
#pragma once
#include "crescent/data/stream.h"
#include "instances/instance.h"

namespace crescent::lua {

/// An object whose class defines len(), the number of batches, and get(number), from 1.
class LuaDataset final : public Stream, public Instance {
 public:
  static constexpr const char* kKind = "dataset";
  template <class T>
  static void describe_base(Schema<T>&) {}
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

/// The batches in a new random order in each pass.
StreamPtr shuffled(std::shared_ptr<LuaDataset> data);

}  // namespace crescent::lua
