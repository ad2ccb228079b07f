#include "training/sharing/shared_step.h"

#include <map>

#include "crescent/model/steps.h"
#include "layer/calls/outside_trace.h"
#include "layer/layer_access.h"
#include "program/recording/divided.h"

namespace crescent {
namespace {

void call_model(Model& model, const Tensors& x, bool training, Tensors& outputs) {
  CallOptions options;
  options.training = training;
  outputs = model(x, options);
}

/// Returns the rows of all processes: each process pads its rows with zeros to the whole batch, and
/// the results are summed over the processes.
Tensor gather_rows(const Share& share, const Tensor& own_rows) {
  const NoGradient no_gradient;
  const bool is_boolean = own_rows.dtype() == DType::boolean;
  const Tensor values = is_boolean ? ops::cast(own_rows, DType::int32) : own_rows;
  std::vector<int64_t> padding_before(static_cast<size_t>(own_rows.rank()), 0),
      padding_after = padding_before;
  padding_before[0] = share.begin();
  padding_after[0] = share.whole - share.begin() - share.rows();
  Tensor padded_values = ops::pad(values, padding_before, padding_after);
  if (share.count == 0) padded_values = ops::zeros_like(padded_values);
  const Tensor whole_batch = ops::stop_gradient(ops::all_reduce(padded_values));
  return is_boolean ? ops::cast(whole_batch, DType::boolean) : whole_batch;
}

/// Returns an output with the rows of all processes. Gradients flow only to the rows that this
/// process has computed.
Tensor gather_output(const Share& share, const Tensor& own_rows) {
  if (own_rows.rank() == 0 || own_rows.dim(0) != share.rows())
    fail("expected an output with a row for each of ", share.rows(), " samples, got shape ",
         own_rows.shape());
  const Tensor whole_batch = gather_rows(share, own_rows);
  const int64_t begin = share.begin(), end = begin + share.rows();
  // A share without rows has computed a row nevertheless. `where` takes the row of `whole_batch` in
  // its place. The computed row stays an input of the graph, so that all processes run the same
  // ops.
  const Tensor padded_rows = share.count > 0
                                 ? own_rows
                                 : ops::where(Tensor::full({}, 0, DType::boolean), own_rows,
                                              ops::slice_axis(whole_batch, 0, begin, end));
  Tensors row_blocks;
  if (begin > 0) row_blocks.push_back(ops::slice_axis(whole_batch, 0, 0, begin));
  row_blocks.push_back(padded_rows);
  if (end < share.whole) row_blocks.push_back(ops::slice_axis(whole_batch, 0, end, share.whole));
  const Tensor joined_rows =
      row_blocks.size() == 1 ? row_blocks[0] : ops::concatenate(row_blocks, 0);
  return own_rows.mask() ? joined_rows.with_mask(gather_rows(share, own_rows.mask())) : joined_rows;
}

/// Sums the tensors with these indices over the processes as one flat tensor. They must have the
/// same dtype.
void sum_together(Tensors& tensors, const std::vector<size_t>& indices) {
  Tensors flattened_tensors;
  std::vector<int64_t> sizes;
  for (size_t i : indices) {
    flattened_tensors.push_back(ops::reshape(tensors[i], {-1}));
    sizes.push_back(flattened_tensors.back().size());
  }
  const Tensors sums =
      ops::split(ops::all_reduce(ops::concatenate(flattened_tensors, 0)), sizes, 0);
  for (size_t i = 0; i < indices.size(); ++i)
    tensors[indices[i]] = ops::reshape(sums[i], tensors[indices[i]].shape());
}

}  // namespace

SharingCheck check_sharing(Model& model, bool uses_shards) {
  if (uses_shards && ModelAccess::training(model).spec.options.run_eagerly)
    return {"it runs eagerly, with op determinism"};
  if (dynamic_cast<const Steps*>(&model)) return {"it has steps of its own"};
  if (model.stateful()) return {"it keeps states of samples from batch to batch"};
  if (!model.is_graph()) return {};
  for (const Symbol& input : model.inputs())
    if (input.shape().rank() > 0 && input.shape()[0] > 0)
      return {concat("its inputs have a fixed batch size, ", input.shape()[0])};
  return {};
}

ProcessGroup group_for(Model& model, const char* run_name, ProcessGroup group) {
  if (!group.shares_batches() && !group.uses_logical_shards()) return group;
  const SharingCheck sharing_check = check_sharing(model, group.uses_logical_shards());
  if (sharing_check) return group;
  if (group.shares_batches() && is_reporting_process())
    warn(run_name, ": each process computes whole batches of model ", model.name(), ": ",
         sharing_check.reason);
  group.compute_whole_batches();
  return group;
}

std::vector<RowsInDraw> draws_of(Model& model, const Tensors& x, bool training) {
  return rows_in_draws([&](int64_t rows) {
    Tensors abstract_inputs;
    for (const Tensor& t : x) {
      TensorSpec spec = t.spec();
      spec.shape.set(0, rows);
      abstract_inputs.push_back(Tensor::abstract(spec));
    }
    Tensors outputs;
    run_abstractly(
        [&](const Tensors& inputs) {
          return call_model(model, inputs, training, outputs), Tensors();
        },
        abstract_inputs);
    LayerAccess::forget_losses(model);
  });
}

Tensors call_on_share(Model& model, const Share& share, const Tensors& x, bool training) {
  const std::vector<RowsInDraw> draws = draws_of(model, x, training);
  Tensors outputs;
  {
    const ShareScope scope(share);
    const RowDraws row_draws(share, draws);
    call_model(model, x, training, outputs);
  }
  for (Tensor& t : outputs) t = gather_output(share, t);
  return outputs;
}

/// Returns the sum of the weighted means of all processes. The sum has no gradient; the term that
/// is added to it, weighted_mean - stop_gradient(weighted_mean), is 0 and has the gradient of
/// weighted_mean.
Tensor mean_over_shares(const Share& share, const Tensor& own_mean) {
  const Tensor weighted_mean = own_mean * share.weight();
  const Tensor sum_of_means =
      ops::stop_gradient(ops::all_reduce(ops::stop_gradient(weighted_mean)));
  return sum_of_means + (weighted_mean - ops::stop_gradient(weighted_mean));
}

/// Sums each value over the processes. It begins with the last value, because the backward pass
/// computes the gradients of the last variables first.
void sum_over_processes(Tensors& values, const Variables& variables, const BucketSizes& sizes) {
  struct Bucket {
    std::vector<size_t> variable_indices;
    int64_t elements = 0;
  };
  std::map<DType, Bucket> buckets;
  const auto sum_bucket = [&](Bucket& bucket) {
    const std::vector<size_t> variable_indices = std::exchange(bucket, {}).variable_indices;
    const ProgramScope scope(concat(variables[variable_indices.front()].path(),
                                    variable_indices.size() > 1
                                        ? concat(" and ", variable_indices.size() - 1, " others")
                                        : ""));
    sum_together(values, variable_indices);
  };
  for (size_t i = values.size(); i-- > 0;) {
    Tensor& value = values[i];
    if (!value || division_of(variables[i])) continue;
    if (value.size() > sizes.small_gradient) {
      const ProgramScope scope(variables[i].path());
      value = ops::all_reduce(value);
      continue;
    }
    Bucket& bucket = buckets[value.dtype()];
    bucket.variable_indices.push_back(i);
    if ((bucket.elements += value.size()) > sizes.bucket_size) sum_bucket(bucket);
  }
  for (auto& [dtype, bucket] : buckets)
    if (!bucket.variable_indices.empty()) sum_bucket(bucket);
}

WrittenState::WrittenState(const Model& model) {
  for (const Variable& v : model.non_trainable_weights())
    if (is_floating(v.dtype()) && !division_of(v)) variables_.push_back(v);
  for (const Variable& v : variables_) value_ids_before_.push_back(v.value().id());
}

void WrittenState::average(const Share& share) const {
  Variables written_variables;
  Tensors weighted_values;
  for (size_t i = 0; i < variables_.size(); ++i) {
    const Tensor current_value = variables_[i].value();
    if (current_value.id() == value_ids_before_[i]) continue;
    written_variables.push_back(variables_[i]);
    weighted_values.push_back(current_value * share.weight());
  }
  sum_over_processes(weighted_values, written_variables);
  for (size_t i = 0; i < written_variables.size(); ++i)
    written_variables[i].assign(weighted_values[i]);
}

}  // namespace crescent
