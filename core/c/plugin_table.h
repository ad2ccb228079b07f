// Registers classes that a plugin describes in a C table (crescent_plugin.h).
#pragma once
#include "arguments.h"
#include "crescent/registry/registry.h"
#include "crescent_plugin.h"

namespace crescent::c {

/// The host functions that plugins are given; they live as long as the process.
const crescent_host& plugin_host();

/// Registers the layer; the class must live as long as the process.
void register_layer(const crescent_layer_class& given, Registry& registry);
void register_op(const crescent_op_class& given, const std::string& plugin, Registry& registry);

/// The entry of a list that a plugin gives; fails for a list or an entry that is NULL.
template <class T>
const T& entry_of(const T* const* list, size_t index, const char* name) {
  require(list, name);
  return *require(list[index], concat(name, "[", index, "]").c_str());
}
/// The name of a class, an option or a parameter; fails for NULL and for an empty one.
std::string required_name(const char* text, const char* what);

/// Handles that are lent for a call, and freed after it.
class LentTensors {
 public:
  explicit LentTensors(std::span<const Tensor> tensors);
  ~LentTensors();
  LentTensors(const LentTensors&) = delete;
  const crescent_tensor* const* data() const { return handles_.data(); }
  size_t size() const { return handles_.size(); }

 private:
  std::vector<const crescent_tensor*> handles_;
};

/// An array in which a callback stores the handles that it returns; they are freed with it.
class ReturnedTensors {
 public:
  explicit ReturnedTensors(size_t capacity) : handles_(capacity) {}
  ~ReturnedTensors();
  ReturnedTensors(const ReturnedTensors&) = delete;
  crescent_tensor** data() { return handles_.data(); }
  /// The first `count` of them; NULL is an empty Tensor.
  Tensors tensors(size_t count) const;

 private:
  std::vector<crescent_tensor*> handles_;
};

/// An array of pointers to specs, since a plugin may know a shorter struct.
class SpecList {
 public:
  explicit SpecList(std::span<const TensorSpec> specs);
  explicit SpecList(size_t capacity);
  const crescent_spec* const* data() const { return places_.data(); }
  crescent_spec* const* pointers() { return writable_.data(); }
  /// The first `count` of them, as a plugin filled them in.
  std::vector<TensorSpec> specs(size_t count) const;

 private:
  void point();
  std::vector<crescent_spec> specs_;
  std::vector<const crescent_spec*> places_;
  std::vector<crescent_spec*> writable_;
};

}  // namespace crescent::c
