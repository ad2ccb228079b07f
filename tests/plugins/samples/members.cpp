// Classes with methods and properties: a layer with a method adapt, as Normalization has, which
// derives from a base with members of its own.
#include "crescent/plugin.h"

using namespace crescent;

namespace {

/// A base class that counts calls of learn; every derived class has `learned` and forget().
class Learner : public UnaryLayer {
 public:
  template <class T>
  static void describe_base(Schema<T>& s) {
    UnaryLayer::describe_base(s);
    s.property("learned", &Learner::learned_, "Batches it has learned from.")
        .method("forget", &Learner::forget, "Starts again.");
  }

 protected:
  virtual void forget() { learned_ = 0; }
  int64_t learned_ = 0;
};

class Centre final : public Learner {
 public:
  static void describe(Schema<Centre>& s) {
    s.doc("Subtracts the mean of the data that it was adapted to.")
        .field("scale", &Centre::scale_, "Multiplied with the result.")
        .method("adapt", &Centre::adapt, "Learns the mean; gives how many rows it has seen.")
        .arg("data", "(rows, features), or a list of rows.")
        .arg("momentum", "Share of the old mean that stays.", 0.0)
        .min(0)
        .max(1)
        .arg("mode", "Which rows count.", "all")
        .choices({"all", "finite"})
        .method("set_names", &Centre::set_names, "Names the features.")
        .arg("names", "One a feature.")
        .method("get_names", &Centre::names, "Their names.")
        .method("measured", &Centre::measured, "The result of a metric on the mean.")
        .arg("metric", "By name, or the object.")
        .arg("target", "What it is compared with.")
        .method("describe_row", &describe_row, "What was given.")
        .arg("row", "A table with names.")
        .arg("more", "Anything.", Value())
        .method("explode", &Centre::explode, "Throws what is no Error.")
        .property("mean", &Centre::mean_, "Of the features; nothing before adapt.")
        .property("factor", &Centre::factor, &Centre::set_factor, "The scale.")
        .min(0)
        .property("variable", &Centre::variable_, "A variable.")
        .property("itself", &Centre::itself, "The layer.");
  }
  Tensor call(const Tensor& x, const Call&) override {
    if (!mean_) fail("call adapt(data) first");
    return (x - mean_) * scale_;
  }

 private:
  int64_t adapt(const Tensor& data, double momentum, const std::string& mode) {
    if (data.rank() != 2) fail("adapt: expected (rows, features), got shape ", data.shape());
    const Tensor usable_data = mode == "finite" ? ops::where(ops::isfinite(data), data, 0) : data;
    const Tensor mean = ops::mean(usable_data, {0});
    mean_ = mean_ ? mean_ * momentum + mean * (1 - momentum) : mean;
    ++learned_;
    return data.dim(0);
  }
  void forget() override {
    Learner::forget();
    mean_ = Tensor();
  }
  void set_names(std::vector<std::string> names) { names_ = std::move(names); }
  const std::vector<std::string>& names() const { return names_; }
  Tensor measured(const std::shared_ptr<Metric>& metric, const Tensor& target) const {
    metric->update_state(target, mean_, {});
    return metric->result();
  }
  static Dict describe_row(Centre& layer, const Dict& row, const Value& more) {
    return {{"layer", layer.name()}, {"row", row}, {"more", more}};
  }
  void explode() const { throw std::out_of_range("the shelf has 3 places"); }
  double factor() const { return scale_; }
  void set_factor(double factor) { scale_ = factor; }
  LayerPtr itself() { return std::dynamic_pointer_cast<Layer>(shared_from_this()); }

  double scale_ = 1;
  Tensor mean_;
  std::vector<std::string> names_;
  Variable variable_{Tensor::scalar(3)};
};

}  // namespace

CRESCENT_PLUGIN("members", "1.0.0") { registry.add<Centre>("Centre"); }
