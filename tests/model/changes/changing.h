// Layers and models that can be combined in any order, for tests that change the structure of
// models.
#pragma once
#include <catch2/catch.hpp>
#include <cmath>

#include "crescent/crescent.h"

namespace crescent::changing {

constexpr int64_t kWidth = 4;

inline LayerPtr dense(int64_t units = kWidth, Dict options = {}) {
  options.set("units", units);
  if (!options.contains("activation")) options.set("activation", "tanh");
  return make<Layer>("Dense", options);
}
inline LayerPtr first_dense(int64_t units = kWidth) {
  return dense(units, {{"input_shape", List{kWidth}}});
}
inline Tensor data(int64_t rows = 8, int64_t seed = 5) {
  return SeedGenerator(seed).normal({rows, kWidth});
}
inline void compile(Model& model, const char* optimizer = "sgd") {
  model.compile({{"optimizer", optimizer}, {"loss", "mse"}});
}

/// A layer that contains another layer, which can be exchanged.
class Holder final : public UnaryLayer {
 public:
  explicit Holder(LayerPtr head) { set_head(std::move(head)); }
  void set_head(LayerPtr head) {
    if (head_) untrack(head_);
    track(head_ = std::move(head));
  }
  const LayerPtr& head() const { return head_; }
  Tensor call(const Tensor& x, const Call&) override { return (*head_)(x); }

 private:
  LayerPtr head_;
};

/// A subclassed model that does the same as Holder.
class HolderModel final : public Model {
 public:
  explicit HolderModel(LayerPtr head) { set_head(std::move(head)); }
  void set_head(LayerPtr head) {
    if (head_) untrack(head_);
    track(head_ = std::move(head));
  }
  Tensors call(const Tensors& inputs, const Call&) override { return (*head_)(inputs); }

 private:
  LayerPtr head_;
};

inline bool are_near(const Tensor& a, const Tensor& b, double tolerance = 1e-5) {
  const auto x = a.to_vector(), y = b.to_vector();
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i)
    if (!(std::abs(x[i] - y[i]) <= tolerance)) return false;
  return true;
}
inline bool are_near(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!are_near(a[i], b[i])) return false;
  return true;
}

inline std::vector<std::string> names(const Model& model) {
  std::vector<std::string> layer_names;
  for (const LayerPtr& layer : model.layers()) layer_names.push_back(layer->name());
  return layer_names;
}

inline std::vector<std::string> warnings;
struct Warnings {
  Warnings() {
    warnings.clear(),
        set_warning_handler([](std::string_view text) { warnings.emplace_back(text); });
  }
  ~Warnings() { set_warning_handler(nullptr); }
};

}  // namespace crescent::changing
