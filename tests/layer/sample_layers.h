// Layers defined by the tests, so that no plugin is needed.
#pragma once
#include "crescent/crescent.h"

namespace crescent::samples {

inline std::shared_ptr<Initializer> ones() {
  class Ones final : public Initializer {
   public:
    Tensor operator()(const Shape& shape, DType dtype) const override {
      return Tensor::full(shape, 1, dtype);
    }
  };
  return std::make_shared<Ones>();
}

/// A layer that computes y = x . w + b, and adds the sum of y as a loss.
class Linear final : public UnaryLayer {
 public:
  explicit Linear(int64_t units = 4, std::string name = "") : units_(units) {
    set_name(std::move(name));
  }
  void build(const Shape& input) override {
    w_ = add_weight("w", {input[-1], units_}, ones());
    b_ = add_weight("b", {units_}, Ref<Initializer>());
    set_input_specs({InputSpec::with_min_ndim(2).axis(-1, input[-1])});
  }
  Tensor call(const Tensor& x, const Call&) override {
    const Tensor y = ops::matmul(x, w_) + b_;
    add_loss(ops::sum(y));
    return y;
  }

 private:
  int64_t units_;
  Variable w_, b_;
};

/// A layer that applies two Linear layers, one after the other.
class Block final : public UnaryLayer {
 public:
  Block() : first_(std::make_shared<Linear>(3)), second_(std::make_shared<Linear>(2)) {
    track(first_);
    track(second_);
  }
  Tensor call(const Tensor& x, const Call&) override { return (*second_)((*first_)(x)); }

 private:
  std::shared_ptr<Linear> first_, second_;
};

/// A layer that counts the samples on which it was called, and doubles its input in training.
class Counter final : public UnaryLayer {
 public:
  void build(const Shape&) override {
    count_ = add_weight("count", {}, Ref<Initializer>(), {.trainable = false});
  }
  Tensor call(const Tensor& x, const Call& call) override {
    add_update(count_, count_ + Tensor(static_cast<double>(std::max<int64_t>(x.dim(0), 0))));
    return call.training ? x * 2.0 : x;
  }
  double count() const { return count_.value().item(); }

 private:
  Variable count_;
};

/// A layer that applies an inner layer, so that tests see what the inner layer gets from the outer
/// call, such as `training`.
class Wrapper final : public UnaryLayer {
 public:
  explicit Wrapper(LayerPtr inner_layer) : inner_(std::move(inner_layer)) { track(inner_); }
  Tensor call(const Tensor& x, const Call&) override { return (*inner_)(x); }

 private:
  LayerPtr inner_;
};

/// A layer that calls the given function, which throws.
class Thrower final : public UnaryLayer {
 public:
  Thrower(std::function<void()> thrower, const char* name) : thrower_(std::move(thrower)) {
    set_name(name);
  }
  Tensor call(const Tensor& x, const Call&) override { return thrower_(), x; }

 private:
  std::function<void()> thrower_;
};

}  // namespace crescent::samples
