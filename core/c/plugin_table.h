// Registers classes that a plugin describes in a C table (crescent_plugin.h).
#pragma once
#include "arguments.h"
#include "crescent/registry/registry.h"
#include "crescent_plugin.h"

namespace crescent::c {

/// Returns the table of host functions that plugins are given; it lives as long as the process.
const crescent_host& plugin_host();

/// Registers the layer; the class must live as long as the process.
void register_layer(const crescent_layer_class& layer_class, Registry& registry);
void register_op(const crescent_op_class& op_class, const std::string& plugin, Registry& registry);

/// Returns an entry of a list that a plugin gives; fails if the list or the entry is NULL.
template <class T>
const T& entry_of(const T* const* list, size_t index, const char* name) {
  require(list, name);
  return *require(list[index], concat(name, "[", index, "]").c_str());
}
/// Returns the name of a class, an option or a parameter; fails if it is NULL or empty,
/// or has other characters than letters, digits, _, . and >.
std::string required_name(const char* text, const char* what);

/// Handles of tensors that a callback may use during one call; the destructor frees them.
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

/// An array into which a callback writes the handles of its results; the destructor frees the
/// handles.
class ReturnedTensors {
 public:
  explicit ReturnedTensors(size_t capacity) : handles_(capacity) {}
  ~ReturnedTensors();
  ReturnedTensors(const ReturnedTensors&) = delete;
  crescent_tensor** data() { return handles_.data(); }
  /// The tensors of the first `count` handles; a NULL handle gives an empty Tensor.
  Tensors tensors(size_t count) const;

 private:
  std::vector<crescent_tensor*> handles_;
};

/// An array of pointers to crescent_spec structs. Plugins get pointers, because a plugin that was
/// compiled with an older header knows a shorter struct and could not index an array of structs.
class SpecList {
 public:
  explicit SpecList(std::span<const TensorSpec> specs);
  explicit SpecList(size_t capacity);
  const crescent_spec* const* data() const { return const_pointers_.data(); }
  crescent_spec* const* pointers() { return pointers_.data(); }
  /// Converts the first `count` structs, which a plugin has filled in.
  std::vector<TensorSpec> specs(size_t count) const;

 private:
  void fill_pointers();
  std::vector<crescent_spec> specs_;
  std::vector<const crescent_spec*> const_pointers_;
  std::vector<crescent_spec*> pointers_;
};

}  // namespace crescent::c
