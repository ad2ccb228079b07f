// A C++17 wrapper of crescent_plugin.h. It is compiled into the plugin, which links nothing of
// Crescent, so that one binary loads into every later host.
//
//   class Scale : public crescent_table::Layer {
//    public:
//     explicit Scale(const Options& options) : initial_(options.text("initializer")) {}
//     void build(Weights& weights, const std::vector<Shape>& inputs) override {
//       weights.add("factor", {inputs[0][-1]}, '"' + initial_ + '"');
//     }
//     Tensor call(const Tensor& x, Weights& weights, bool) override { return x * weights[0]; }
//    private:
//     std::string initial_;
//   };
//   CRESCENT_TABLE_PLUGIN("acme.scale", "1.0.0",
//     crescent_table::layer<Scale>("Scale", "Multiplies each feature.",
//       {{"initializer", "How the factors start.", "\"ones\""}}))
#pragma once
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "crescent_plugin.h"

#pragma GCC visibility push(hidden)
namespace crescent_table {

/// The host; set when the plugin starts.
inline const crescent_host* host = nullptr;

/// An error of the host that passes through the plugin, or an error of the plugin.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void check(crescent_error* error) {
  if (!error) return;
  const std::string message = host->error_message(error);
  host->error_free(error);
  throw Error(message);
}

/// Runs the body; converts an exception to a crescent_error.
template <class Body>
crescent_error* guarded(Body body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const std::exception& error) {
    return host->error_new(error.what());
  } catch (...) {
    return host->error_new("an exception that is none of the standard library");
  }
}

/// The sizes of the axes; -1 is unknown. shape[-1] is the last axis.
class Shape {
 public:
  Shape(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}
  explicit Shape(const crescent_spec& spec) : sizes_(spec.shape, spec.shape + spec.rank) {}
  int rank() const { return static_cast<int>(sizes_.size()); }
  const int64_t* data() const { return sizes_.data(); }
  int64_t operator[](int axis) const {
    const int place = axis < 0 ? axis + rank() : axis;
    if (place < 0 || place >= rank())
      throw Error("there is no axis " + std::to_string(axis) + " in a shape of rank " +
                  std::to_string(rank()));
    return sizes_[static_cast<size_t>(place)];
  }

 private:
  std::vector<int64_t> sizes_;
};

/// A tensor of the host; owns its handle.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(crescent_tensor* owned) : handle_(owned) {}
  Tensor(float number) {
    check(host->tensor_new(CRESCENT_FLOAT32, nullptr, 0, &number, sizeof number, &handle_));
  }
  /// Makes a tensor with a new handle to the values of `lent`, a handle that somebody else owns.
  static Tensor shared(const crescent_tensor* lent) {
    Tensor tensor;
    if (lent) check(host->tensor_share(lent, &tensor.handle_));
    return tensor;
  }
  Tensor(const Tensor& other) : Tensor(shared(other.handle_)) {}
  Tensor(Tensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept { return std::swap(handle_, other.handle_), *this; }
  ~Tensor() {
    if (handle_) host->tensor_free(handle_);
  }
  const crescent_tensor* get() const { return handle_; }
  crescent_tensor* release() { return std::exchange(handle_, nullptr); }
  Shape shape() const {
    crescent_spec spec{};
    spec.struct_size = sizeof spec;
    check(host->tensor_spec(handle_, &spec));
    return Shape(spec);
  }

 private:
  crescent_tensor* handle_ = nullptr;
};

/// Calls a function of cr.ops that has one result.
inline Tensor call(const char* function, std::initializer_list<const Tensor*> inputs,
                   const char* arguments = nullptr) {
  std::vector<const crescent_tensor*> handles;
  for (const Tensor* each : inputs) handles.push_back(each->get());
  crescent_tensor* result = nullptr;
  size_t count = 1;
  check(host->call(function, handles.data(), handles.size(), arguments, &result, &count));
  return Tensor(result);
}
inline Tensor operator+(const Tensor& a, const Tensor& b) { return call("add", {&a, &b}); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return call("subtract", {&a, &b}); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return call("multiply", {&a, &b}); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return call("true_divide", {&a, &b}); }

/// The options of a layer, or the attributes of an op.
class Options {
 public:
  explicit Options(const char* json) : json_(json) {}
  double number(const char* name) const {
    double found = 0;
    check(host->get_number(json_, name, &found));
    return found;
  }
  std::string text(const char* name) const {
    char* found = nullptr;
    check(host->get_text(json_, name, &found));
    const std::string copy = found;
    host->text_free(found);
    return copy;
  }

 private:
  const char* json_;
};

/// The weights of a layer.
class Weights {
 public:
  explicit Weights(crescent_layer* layer) : layer_(layer) {}
  /// Adds a weight; to be called within build. `initializer` is JSON: "\"zeros\"".
  void add(const char* name, const Shape& shape, const std::string& initializer = "",
           bool trainable = true) {
    check(host->add_weight(layer_, name, shape.data(), shape.rank(),
                           initializer.empty() ? nullptr : initializer.c_str(), trainable));
  }
  Tensor operator[](size_t index) const {
    crescent_tensor* value = nullptr;
    check(host->weight(layer_, index, &value));
    return Tensor(value);
  }
  void assign(size_t index, const Tensor& value) {
    check(host->assign(layer_, index, value.get()));
  }
  void add_loss(const Tensor& value) { check(host->add_loss(layer_, value.get())); }

 private:
  crescent_layer* layer_;
};

/// A layer with one input and one output; derived classes have a constructor that takes Options.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual void build(Weights&, const std::vector<Shape>& /*inputs*/) {}
  virtual Tensor call(const Tensor& x, Weights& weights, bool training) = 0;
};

struct Option {
  const char* name;
  const char* doc;
  const char* default_value;
};

/// The table entry of the layer class T; it lives as long as the process.
template <class T>
const crescent_layer_class* layer(const char* name, const char* doc,
                                  std::initializer_list<Option> options = {}) {
  auto* list = new std::vector<const crescent_option*>;
  for (const Option& each : options)
    list->push_back(
        new crescent_option{sizeof(crescent_option), each.name, each.doc, each.default_value});
  auto* made = new crescent_layer_class{};
  made->struct_size = sizeof *made;
  made->name = name;
  made->doc = doc;
  made->options = list->data();
  made->option_count = list->size();
  made->create = [](const char* json, void** self) {
    return guarded([&] { *self = static_cast<Layer*>(new T(Options(json))); });
  };
  made->destroy = [](void* self) { delete static_cast<Layer*>(self); };
  made->build = [](void* self, crescent_layer* handle, const crescent_spec* const* inputs,
                   size_t count) {
    return guarded([&] {
      std::vector<Shape> shapes;
      for (size_t i = 0; i < count; ++i) shapes.emplace_back(*inputs[i]);
      Weights weights(handle);
      static_cast<Layer*>(self)->build(weights, shapes);
    });
  };
  made->call = [](void* self, crescent_layer* handle, const crescent_tensor* const* inputs, size_t,
                  int training, crescent_tensor** results, size_t* count) {
    return guarded([&] {
      Weights weights(handle);
      Tensor y = static_cast<Layer*>(self)->call(Tensor::shared(inputs[0]), weights, training);
      results[0] = y.release();
      *count = 1;
    });
  };
  return made;
}
}  // namespace crescent_table

/// Exports the table of a plugin with these layers.
#define CRESCENT_TABLE_PLUGIN(plugin_name, plugin_version, ...)                          \
  static crescent_error* crescent_table_start(const crescent_host* given) {              \
    crescent_table::host = given;                                                        \
    return nullptr;                                                                      \
  }                                                                                      \
  static const crescent_layer_class* const crescent_table_layers[] = {__VA_ARGS__};      \
  CRESCENT_EXPORT_TABLE = {CRESCENT_TABLE_HEAD(plugin_name, plugin_version),             \
                           &crescent_table_start,                                        \
                           crescent_table_layers,                                        \
                           sizeof crescent_table_layers / sizeof *crescent_table_layers, \
                           nullptr,                                                      \
                           0,                                                            \
                           nullptr};
