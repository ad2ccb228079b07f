#include <algorithm>
#include <cmath>

#include "../../../numbers.h"
#include "../adapting.h"
#include "crescent/layer/layer.h"
#include "crescent/program/op.h"
#include "crescent/registry/registration.h"
#include "encoding.h"
#include "quantiles.h"

namespace crescent {
namespace {

/// The op that counts, for each x, the boundaries that are at most x; for NaN it counts all.
struct Digitize final : OpOf<Digitize> {
  static constexpr const char* kName = "digitize";
  std::vector<float> boundaries;
  bool has_boundaries = false;
  auto fields() const { return std::tie(boundaries, has_boundaries); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {{DType::int64, in[0].shape}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    if (!has_boundaries)
      fail("You need to either pass the `bin_boundaries` argument at construction time or call ",
           "`adapt(dataset)` before you can start using the `Discretization` layer.");
    const float* x = in[0].data<float>();
    auto* index = out[0].mutable_data<int64_t>();
    for (int64_t i = 0; i < in[0].size(); ++i)
      index[i] = std::upper_bound(boundaries.begin(), boundaries.end(), x[i]) - boundaries.begin();
    return true;
  }
};

class Discretization final : public UnaryLayer {
 public:
  static void describe(Schema<Discretization>& s) {
    s.doc("Encodes numbers by the range they fall into.")
        .field("bin_boundaries", &Discretization::bin_boundaries_,
               "Boundaries of the ranges, in ascending order; the first and last range are "
               "unbounded. Together with num_bins: the result of adapt().")
        .field("num_bins", &Discretization::num_bins_,
               "Number of ranges that adapt() determines, with about equally many numbers in each.")
        .min(1)
        .field("epsilon", &Discretization::epsilon_,
               "Tolerance of adapt(): the fraction of numbers that may fall into a wrong range.")
        .field("output_mode", &Discretization::output_mode_,
               "\"int\": indices of ranges, from 0; \"one_hot\", \"multi_hot\", \"count\": vectors "
               "with an element for each range, as in CategoryEncoding.")
        .field("sparse", &Discretization::sparse_, "Accepts only false: tensors are dense.")
        .method("adapt", &Discretization::adapt,
                "Determines the boundaries from data, with equally many numbers in each range.")
        .arg("data", "A tensor, a list, or a dataset.")
        .arg("steps", "Maximum number of batches to use.", Value())
        .method("update_state", &Discretization::update_state, "Accumulates one batch.")
        .arg("data", "A tensor or a list.")
        .method("finalize_state", &Discretization::finalize_state,
                "Computes the boundaries from the accumulated data.")
        .method("reset_state", &Discretization::reset_state, "Discards the accumulated data.")
        .property("bin_boundaries", &Discretization::bin_boundaries_, "Boundaries of the ranges.")
        .property("num_bins", &Discretization::num_bins_,
                  "Number of ranges that adapt() determines.");
  }
  void configured() override {
    UnaryLayer::configured();
    check_mode(output_mode_, {kIndices, kOneHot, kMultiHot, kCount});
    refuse_sparse(sparse_);
    if (!(epsilon_ > 0 && epsilon_ <= 1))
      fail("`epsilon` must be a fraction from 0 to 1. Received: epsilon=", epsilon_);
    if (!num_bins_ && !bin_boundaries_)
      fail("You need to set either `num_bins` or `bin_boundaries`.");
    if (num_bins_ && bin_boundaries_ && static_cast<int64_t>(bin_boundaries_->size()) > *num_bins_)
      fail("Both `num_bins` and `bin_boundaries` should not be set. Received: `num_bins=",
           *num_bins_, "` and `bin_boundaries=", Value(*bin_boundaries_), "`");
    if (bin_boundaries_ && !std::is_sorted(bin_boundaries_->begin(), bin_boundaries_->end()))
      fail("`bin_boundaries` must be in order. Received: bin_boundaries=", Value(*bin_boundaries_));
  }
  Tensor call(const Tensor& x, const Call&) override {
    Digitize op;
    op.has_boundaries = bin_boundaries_.has_value();
    if (op.has_boundaries) op.boundaries.assign(bin_boundaries_->begin(), bin_boundaries_->end());
    const int64_t depth =
        op.has_boundaries ? static_cast<int64_t>(op.boundaries.size()) + 1 : *num_bins_;
    const DType dtype = output_mode_ == kIndices ? DType::int32 : compute_dtype();
    return encode_indices(apply1(op, {ops::cast(x, DType::float32)}), output_mode_, depth, dtype);
  }

 private:
  void adapt(const Value& data, std::optional<int64_t> steps) {
    check_adaptable();
    reset_state();
    each_batch(data, steps, [&](const Value& batch) { update_state(batch); });
    finalize_state();
  }
  void update_state(const Value& data) {
    check_adaptable();
    const Tensor values = numbers_in(data, "data").tensor(DType::float32);
    const float* values_begin = values.data<float>();
    summary_ = merge_summaries(summary_of({values_begin, values_begin + values.size()}, epsilon_),
                               summary_, epsilon_);
  }
  void finalize_state() {
    if (!num_bins_) return;
    bin_boundaries_ = boundaries_of(summary_, *num_bins_);
    structure_changed();
  }
  void reset_state() { summary_ = {}; }
  void check_adaptable() const {
    if (!num_bins_)
      fail("Cannot adapt a Discretization layer that has been initialized with ",
           "`bin_boundaries`, use `num_bins` instead.");
  }

  std::optional<std::vector<double>> bin_boundaries_;
  std::optional<int64_t> num_bins_;
  double epsilon_ = 0.01;
  std::string output_mode_ = kIndices;
  bool sparse_ = false;
  Summary summary_;
};

}  // namespace

CRESCENT_REGISTER(discretization) { registry.add<Discretization>("Discretization"); }

}  // namespace crescent
