// The base of attention layers: dropout of the weights, masks, and the fused op.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

/// The mask (1, t, s) with which query step i attends only to key steps up to i.
Tensor causal_mask(int64_t t, int64_t s);
/// The mask (1, t, s) with which query step i attends only to key steps less than `width` away.
Tensor window_mask(int64_t t, int64_t s, int64_t width);
/// The conjunction of two masks, either of which may be null.
Tensor conjunction(const Tensor& a, const Tensor& b);

/// Which query may attend to which key: `allowed` broadcasts to (b,h,t,s) and is null if nothing is
/// masked; if `causal`, query i attends only to keys up to i.
struct ScoreMask {
  Tensor allowed;
  bool causal = false;

  /// This mask as a single tensor, which broadcasts to (b,h,queries,keys); null if nothing is
  /// masked.
  Tensor as_tensor(int64_t query_count, int64_t key_count) const;
};

class AttentionLayer : public Layer {
 public:
  void configured() override;
  /// Returns the mask of the query as the mask of the output.
  Tensors compute_mask(const Tensors& inputs, const Tensors& masks,
                       const Tensors& outputs) override;

 protected:
  template <class T>
  static void describe_dropout(Schema<T>& s) {
    s.field("dropout", &AttentionLayer::dropout_,
            "Dropout rate of the attention weights in training.")
        .min(0)
        .max(1);
  }
  template <class T>
  static void describe_seed(Schema<T>& s) {
    s.field("seed", &AttentionLayer::seed_, "Seed of the dropout.");
  }
  struct AttentionOutput {
    Tensor output;           ///< the weighted sums of values, (b,t,h,e)
    Tensor weights;          ///< the attention weights (b,h,t,s), if requested
    Tensor dropped_weights;  ///< weights after dropout
  };
  /// Computes attention of query (b,t,h,d), key (b,s,h,d) and value (b,s,h,e).
  AttentionOutput attend(const Tensor& query, const Tensor& key, const Tensor& value,
                         const ScoreMask& mask, double scale, const Call& call,
                         bool wants_weights) const;
  /// Like attend(), but the result is zero for queries that may attend to no key; attend() gives
  /// such queries weights that sum to 1.
  AttentionOutput attend_or_zero(const Tensor& query, const Tensor& key, const Tensor& value,
                                 const ScoreMask& mask, double scale, const Call& call,
                                 bool wants_weights) const;
  /// Computes the weighted sum of values, with weights from the scores (b,h,t,s).
  AttentionOutput mix(const Tensor& scores, const Tensor& value, const ScoreMask& mask,
                      const Call& call) const;
  double dropout() const { return dropout_; }

 private:
  AttentionOutput mix_weights(const Tensor& weights, const Tensor& value, const Call& call) const;
  bool drops(const Call& call) const { return call.training && dropout_ > 0; }

  double dropout_ = 0;
  std::optional<int64_t> seed_;
  std::optional<SeedGenerator> random_;
};

}  // namespace crescent
