// Connectionist temporal classification (Graves et al. 2006): the probability of a label sequence,
// summed over all alignments of the labels, with blanks (class 0) between them, to the time steps.
#include <cmath>

#include "crescent/program/program.h"
#include "crescent/registry/registration.h"
#include "losses.h"

namespace crescent {
namespace {

using namespace ops;

// The value used as log(0); unlike minus infinity, this number causes no infinities in gradients.
constexpr double kLogZero = -1e30;

/// Computes log(exp a + exp b + exp c).
Tensor log_add(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor largest_term = stop_gradient(maximum(maximum(a, b), c));
  return largest_term + log(exp(a - largest_term) + exp(b - largest_term) + exp(c - largest_term));
}

/// Shifts x (batch, states) to the right by `shift` states; the first states become log(0).
Tensor shift_right(const Tensor& x, int64_t shift) {
  const Tensor prefix = slice(x, {0, 0}, {x.dim(0), x.dim(1) - shift});
  return pad(prefix, {0, shift}, {0, 0}, kLogZero);
}

/// Logarithms of probabilities: 0 where the condition is true, log(0) elsewhere.
Tensor log_indicator(const Tensor& condition, DType dtype) {
  return where(condition, zeros(condition.shape(), dtype), kLogZero);
}

class Ctc final : public Loss {
 public:
  static void describe(Schema<Ctc>& s) {
    s.doc(
        "Connectionist temporal classification (Graves et al. 2006): -log of the probability of "
        "y_true (batch, length), class numbers padded with 0, given logits (batch, time, classes). "
        "Class 0 is the blank.");
  }
  bool sparse_targets() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    check_shapes(y_true, y_pred);
    const int64_t batch = y_true.dim(0), length = y_true.dim(1), classes = y_pred.dim(2);
    const int64_t state_count = 2 * length + 1;
    const DType dtype = y_pred.dtype();
    const Tensor labels =
        check_indices(cast(y_true, DType::int32), classes, "label", concat(classes, " classes"));

    // The path of an alignment through its states: blank, label, blank, label, ..., blank.
    const Tensor blanks = zeros_like(labels);
    const Tensor path =
        pad(reshape(stack(Tensors{blanks, labels}, 2), {batch, 2 * length}), {0, 0}, {0, 1}, 0);
    const Tensor emission_scores =
        einsum("btc,bsc->tbs", Tensors{log_softmax(y_pred), one_hot(path, classes, dtype)});
    const Tensor label_two_before =
        pad(slice(path, {0, 0}, {batch, std::max<int64_t>(state_count - 2, 0)}),
            {0, std::min<int64_t>(2, state_count)}, {0, 0}, 0);
    const Tensor half_index = cast(arange(state_count), DType::float32) / 2;
    const Tensor is_label = not_equal(half_index, floor(half_index));  // every second state
    const Tensor skip_scores = log_indicator(
        logical_and(expand_dims(is_label, 0), not_equal(path, label_two_before)), dtype);
    const Tensor is_first_two =
        broadcast_to(expand_dims(less(arange(state_count), 2), 0), {batch, state_count});

    const Tensor start_scores =
        log_indicator(is_first_two, dtype) + squeeze(slice_axis(emission_scores, 0, 0, 1), 0);
    const Tensor end_scores =
        y_pred.dim(1) == 1 ? start_scores : last_state(start_scores, skip_scores, emission_scores);
    return loss_at_end(end_scores, labels);
  }

 private:
  static void check_shapes(const Tensor& y_true, const Tensor& y_pred) {
    if (y_true.rank() != 2)
      fail(
          "Targets `y_true` are expected to be a tensor of shape `(batch_size, max_length)` in "
          "integer format. Received: y_true.shape=",
          y_true.shape());
    if (y_pred.rank() != 3)
      fail(
          "Logits `y_pred` are expected to be a tensor of shape `(batch_size, max_length, "
          "num_classes)`. Received: y_pred.shape=",
          y_pred.shape());
    if (y_true.dim(0) >= 0 && y_pred.dim(0) >= 0 && y_true.dim(0) != y_pred.dim(0))
      fail("Targets and logits have different batch sizes. Received: y_true.shape=", y_true.shape(),
           " and y_pred.shape=", y_pred.shape());
  }
  /// The logarithm of the probability of each state after the last time step. `start_scores`
  /// contains the logarithms after the first step.
  static Tensor last_state(const Tensor& start_scores, const Tensor& skip_scores,
                           const Tensor& emission_scores) {
    const ScanBody body = [&](const Tensors& carried, const Tensors& step) {
      const Tensor& log_probabilities = carried.front();
      const Tensor log_sum = log_add(log_probabilities, shift_right(log_probabilities, 1),
                                     shift_right(log_probabilities, 2) + carried[1]);
      return ScanResult{{log_sum + step.front(), carried[1]}, {}};
    };
    const Tensor later_steps = slice_axis(emission_scores, 0, 1, emission_scores.dim(0));
    return scan(body, {start_scores, skip_scores}, {later_steps}).states.front();
  }
  /// The loss: minus the logarithm of the probability to end in one of the two final states, the
  /// last label and the blank after it; infinity if the probability is 0.
  static Tensor loss_at_end(const Tensor& end_scores, const Tensor& labels) {
    const DType dtype = end_scores.dtype();
    const Tensor last_blank =
        cast(2 * sum(cast(not_equal(labels, 0), DType::int32), {1}, true), DType::int32);
    const Tensor position = expand_dims(arange(end_scores.dim(1)), 0);
    const Tensor is_end = logical_or(equal(position, last_blank), equal(position, last_blank - 1));
    const Tensor value = -logsumexp(where(is_end, end_scores, zeros({1}, dtype) + kLogZero), {1});
    return where(greater(value, -kLogZero / 2), INFINITY, value);
  }
};

}  // namespace

CRESCENT_REGISTER(ctc) { registry.add<Ctc>("CTC", {"ctc"}); }

}  // namespace crescent
