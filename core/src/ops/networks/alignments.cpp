// Connectionist temporal classification (Graves et al., 2006): the likelihood of label sequences
// for class probabilities at each time step.
#include "crescent/ops/networks.h"
#include "ops/functions/array_ops.h"
#include "ops/networks/beam_search.h"

namespace crescent::ops {
namespace {

/// Stands for the logarithm of probability 0; its gradient is 0.
constexpr double kLogZero = -1e30;

Tensor log_add_exp(const Tensor& a, const Tensor& b) {
  const Tensor maximum = ops::maximum(a, b);
  return maximum + ops::log(ops::exp(a - maximum) + ops::exp(b - maximum));
}

/// Shifts the last axis to the right by `count` elements; the new elements are log probabilities of
/// 0.
Tensor shifted_right(const Tensor& x, int64_t count) {
  const int64_t n = x.dim(1);
  if (n <= count) return ops::full(x.shape(), kLogZero, x.dtype());
  return ops::pad(ops::slice_axis(x, 1, 0, n - count), {0, count}, {0, 0}, kLogZero);
}

Tensor ctc_loss_of(const Tensor& target, const Tensor& output, const Tensor& target_length,
                   const Tensor& output_length, int64_t mask_index) {
  const Tensor logs = ops::log_softmax(output, -1);
  const int64_t label_count = target.dim(1), state_count = 2 * label_count + 1,
                step_count = output.dim(1);
  if (target.rank() != 2 || output.rank() != 3 || label_count < 0 || step_count < 1)
    fail("ctc_loss: expected target (batch, labels) and output (batch, time, classes), got shapes ",
         target.shape(), " and ", output.shape());
  const Tensor int_targets = ops::cast(target, DType::int32);
  const Tensor blanks = ops::where(ops::equal(int_targets, int_targets), mask_index, int_targets);
  // The path is blank, label, blank, label, ..., blank; its positions are the states.
  const Tensor pairs =
      ops::reshape(ops::stack(Tensors{blanks, int_targets}, 2), {-1, 2 * label_count});
  const Tensor path = ops::pad(pairs, {0, 0}, {0, 1}, static_cast<double>(mask_index));
  const Tensor shifted_path = ops::pad(path, {0, 2}, {0, 0}, static_cast<double>(mask_index));
  const Tensor can_skip =
      ops::logical_and(ops::not_equal(path, mask_index),
                       ops::not_equal(path, ops::slice_axis(shifted_path, 1, 0, state_count)));
  const auto log_probabilities_at = [&](int64_t t) {
    return ops::gather_along_axis(ops::squeeze(ops::slice_axis(logs, 1, t, t + 1), 1), path, 1);
  };
  const Tensor state = positions(state_count, 1, 2);
  Tensor log_alpha = ops::where(ops::less(state, 2), log_probabilities_at(0), kLogZero);
  const Tensor lengths = ops::expand_dims(ops::cast(output_length, DType::int32), 1);
  for (int64_t t = 1; t < step_count; ++t) {
    const Tensor without_skips = log_add_exp(log_alpha, shifted_right(log_alpha, 1));
    const Tensor with_skips = ops::where(
        can_skip, log_add_exp(without_skips, shifted_right(log_alpha, 2)), without_skips);
    log_alpha =
        ops::where(ops::greater(lengths, t), with_skips + log_probabilities_at(t), log_alpha);
  }
  const Tensor last_state = ops::expand_dims(ops::cast(target_length, DType::int32), 1) * 2;
  const Tensor end_score = ops::gather_along_axis(log_alpha, last_state, 1);
  const Tensor label_score = ops::gather_along_axis(log_alpha, ops::maximum(last_state - 1, 0), 1);
  return -ops::squeeze(
      ops::where(ops::greater(last_state, 0), log_add_exp(end_score, label_score), end_score), 1);
}

/// Greedy decoding: takes the most likely class of each time step, removes repetitions and blanks,
/// and returns the labels (1, batch, time), filled with -1, and the negative sum of the classes'
/// log probabilities (batch, 1).
std::tuple<Tensor, Tensor> greedily_decoded(const Tensor& x, const Tensor& lengths,
                                            bool merge_repeated, int64_t mask_index) {
  const int64_t step_count = x.dim(1);
  const Tensor best_labels = ops::cast(ops::argmax(x, -1), DType::int32);
  const Tensor is_within =
      ops::less(positions(step_count, 1, 2), ops::expand_dims(ops::cast(lengths, DType::int32), 1));
  Tensor is_kept = ops::logical_and(is_within, ops::not_equal(best_labels, mask_index));
  if (merge_repeated && step_count > 1) {
    const Tensor previous_labels =
        ops::pad(ops::slice_axis(best_labels, 1, 0, step_count - 1), {0, 1}, {0, 0}, -1);
    is_kept = ops::logical_and(is_kept, ops::not_equal(best_labels, previous_labels));
  }
  // The remaining labels are moved to the front in order.
  const Tensor time_step = positions(step_count, 1, 2);
  const Tensor sort_key = ops::where(is_kept, time_step, time_step + step_count);
  const Tensor order = ops::top_k(ops::subtract(-1, sort_key), step_count)[1];
  const Tensor compacted_labels =
      ops::gather_along_axis(ops::where(is_kept, best_labels, -1), order, 1);
  const Tensor log_probability_sum =
      ops::sum(ops::where(is_within, ops::max(x, {-1}), 0), {1}, true);
  return {ops::expand_dims(compacted_labels, 0), -log_probability_sum};
}

/// Casts to float32, or leaves float64. As in Keras, results of half-width floats are float32;
/// float16 could not represent kLogZero.
Tensor as_single_precision(const Tensor& input) {
  const Tensor x = floating(input);
  return cast(x, promote(x.dtype(), DType::float32));
}

}  // namespace

Tensor ctc_loss(const Tensor& target, const Tensor& output, const Tensor& target_length,
                const Tensor& output_length, int64_t mask_index) {
  return ctc_loss_of(target, as_single_precision(output), target_length, output_length, mask_index);
}

std::tuple<Tensor, Tensor> ctc_decode(const Tensor& inputs, const Tensor& lengths,
                                      const CtcOptions& options) {
  const Tensor x = as_single_precision(inputs);
  if (x.rank() != 3 || x.dim(1) == 0 || x.dim(2) == 0 || lengths.rank() != 1)
    fail("ctc_decode: expected inputs (batch, time, classes) and lengths (batch), got shapes ",
         x.shape(), " and ", lengths.shape());
  const int64_t blank = options.mask_index.value_or(x.dim(2) - 1);
  if (!options.beam_search) {
    if (options.top_paths != 1)
      fail("ctc_decode: greedy decoding gives one path, got top_paths=", options.top_paths);
    return greedily_decoded(x, lengths, options.merge_repeated, blank);
  }
  if (options.beam_width < 1 || options.top_paths < 1)
    fail("ctc_decode: expected a beam_width and top_paths of at least 1, got ", options.beam_width,
         " and ", options.top_paths);
  const auto [labels, scores] = beam_searched(ops::log_softmax(x, -1), lengths,
                                              {options.beam_width, options.top_paths, blank});
  return {labels, scores};
}

}  // namespace crescent::ops
