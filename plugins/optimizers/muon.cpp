// Muon (Jordan et al. 2024): orthogonalized momentum for matrices, AdamW for other weights.
#include <algorithm>
#include <cmath>

#include "crescent/base/pattern.h"
#include "crescent/layer/optimizer.h"
#include "crescent/registry/registration.h"
#include "crescent/system/interrupt.h"
#include "update_rule.h"

namespace crescent {
namespace {

using namespace ops;

class Muon final : public UpdateRule {
 public:
  Muon() { decay_ = 0.004; }
  static void describe(Schema<Muon>& s) {
    s.doc(
         "Orthogonalized momentum for matrices (Jordan 2024); AdamW for vectors, embeddings and "
         "excluded layers.")
        .field("learning_rate", &Muon::learning_rate_, "The learning rate: a number or a schedule.")
        .alias("lr")
        .field("adam_beta_1", &Muon::beta_1_, "AdamW: decay rate of the average of gradients.")
        .min(0)
        .max(1)
        .field("adam_beta_2", &Muon::beta_2_,
               "AdamW: decay rate of the average of squared gradients.")
        .min(0)
        .max(1)
        .field("adam_weight_decay", &Muon::adam_weight_decay_, "AdamW: weight decay.")
        .field("epsilon", &Muon::epsilon_, "AdamW: small constant added to the square root.")
        .field("exclude_layers", &Muon::exclude_layers_,
               "Regular expressions of paths that AdamW updates.")
        .field("exclude_embeddings", &Muon::exclude_embeddings_, "Update embeddings by AdamW.")
        .field("muon_a", &Muon::a_,
               "Coefficient a of the Newton-Schulz iteration a*x + b*x^3 + c*x^5.")
        .field("muon_b", &Muon::b_, "Coefficient of the Newton-Schulz iteration.")
        .field("muon_c", &Muon::c_, "Coefficient of the Newton-Schulz iteration.")
        .field("adam_lr_ratio", &Muon::adam_lr_ratio_,
               "Learning rate of AdamW as a multiple of learning_rate.")
        .field("momentum", &Muon::momentum_, "Momentum.")
        .field("ns_steps", &Muon::ns_steps_, "Number of Newton-Schulz iterations.")
        .min(0)
        .max(1000)
        .field("nesterov", &Muon::nesterov_, "Use Nesterov momentum.")
        .field("rms_rate", &Muon::rms_rate_,
               "Root mean square of the elements of a step; null: not normalized.");
  }
  void configured() override {
    UpdateRule::configured();
    excluded_patterns_.clear();
    for (const std::string& text : exclude_layers_.value_or(std::vector<std::string>{}))
      excluded_patterns_.emplace_back(text, "exclude_layers");
  }

 protected:
  std::vector<std::string> slots() const override { return {"momentum", "velocity"}; }
  Tensor initial_slot(std::string_view slot, const Variable& w) const override {
    return slot == "velocity" && !uses_adam(w) ? Tensor() : Tensor(w.shape(), w.dtype());
  }
  std::optional<double> decay_of(const Variable& w) const override {
    return uses_adam(w) ? adam_weight_decay_ : decay_;
  }
  void rule(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor& step,
            Slots slots) override {
    if (slots.size() == 2) return adam_step(w, g, rate * adam_lr_ratio_, step, slots);
    const Tensor m = slots[0] * momentum_ + g;
    slots[0].assign(m);
    Tensor weight_change = rate * make_orthogonal(nesterov_ ? g + momentum_ * m : m);
    if (rms_rate_)
      weight_change =
          weight_change * (std::sqrt(double(std::max(w.shape()[0], w.shape()[1]))) * *rms_rate_);
    w.assign(w - weight_change);
  }

 private:
  bool uses_adam(const Variable& w) const {
    if (w.shape().rank() != 2) return true;
    std::string path = w.path();
    for (const Pattern& pattern : excluded_patterns_)
      if (pattern.found_in(path)) return true;
    for (char& c : path) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return exclude_embeddings_ && path.find("embedding") != std::string::npos;
  }
  void adam_step(const Variable& w, const Tensor& g, const Tensor& rate, const Tensor& step,
                 Slots slots) const {
    const Tensor alpha =
        rate * sqrt(bias_correction(beta_2_, step)) / bias_correction(beta_1_, step);
    const Tensor m = average(slots[0], g, beta_1_), v = average(slots[1], square(g), beta_2_);
    w.assign(w - m * alpha / (sqrt(v) + epsilon_));
  }
  /// Replaces the singular values of a matrix by numbers close to 1, by Newton-Schulz iteration.
  Tensor make_orthogonal(const Tensor& matrix) const {
    const bool is_tall = matrix.dim(0) > matrix.dim(1);
    Tensor x = is_tall ? transpose(matrix) : matrix;
    x = x / (sqrt(sum(square(x))) + 1e-7);
    for (int64_t i = 0; i < ns_steps_; ++i) {
      heed_interruption("a gradient was made orthogonal");
      const Tensor squares = matmul(x, x, false, true);
      x = a_ * x + matmul(b_ * squares + c_ * matmul(squares, squares), x);
    }
    return is_tall ? transpose(x) : x;
  }

  double beta_1_ = 0.9, beta_2_ = 0.999, epsilon_ = 1e-7, a_ = 3.4445, b_ = -4.775, c_ = 2.0315,
         adam_lr_ratio_ = 1, momentum_ = 0.95;
  std::optional<double> adam_weight_decay_ = 0.004, rms_rate_ = 0.2;
  std::optional<std::vector<std::string>> exclude_layers_;
  bool exclude_embeddings_ = true, nesterov_ = true;
  int64_t ns_steps_ = 5;
  std::vector<Pattern> excluded_patterns_;
};

}  // namespace

CRESCENT_REGISTER(muon) { registry.add<Muon>("Muon", {"muon"}); }

}  // namespace crescent
