#include "training/sharing/logical_shards.h"

#include <algorithm>
#include <map>

#include "layer/layer_access.h"
#include "program/recording/shard_sum.h"
#include "program/recording/tape.h"
#include "tensor/tensor_record.h"
#include "training/sharing/shared_step.h"

namespace crescent {
namespace {

Tensor concatenate_shards(const Tensors& shard_values) {
  return crescent::apply(std::make_shared<const ShardConcat>(), shard_values).front();
}

Tensors rows_of_shard(const Tensors& x, const Share& share, int64_t shard) {
  const Share shard_share = share.shard(shard);
  ShardSlice op;
  op.shard = shard, op.first = shard_share.first, op.count = shard_share.count;
  Tensors rows;
  for (const Tensor& input : x) rows.push_back(apply1(op, {input}));
  return rows;
}

/// The losses that the layers added in the last call.
Tensors added_losses(Model& model) {
  Tensors losses = LayerAccess::added_losses(model);
  LayerAccess::forget_losses(model);
  return losses;
}

/// The variables, other than trained weights, that calls of the model write. Each shard starts from
/// the values before the step; after all shards, the variables become the means over the rows.
class ShardState {
 public:
  ShardState(const Model& model, const Share& share)
      : share_(share),
        variables_(model.non_trainable_weights()),
        written_values_(variables_.size()) {
    for (const Variable& v : variables_) values_before_.push_back(v.value());
  }
  /// Stores the values that the shard has written, and restores the values before the step.
  void collect_writes(int64_t shard) {
    for (size_t i = 0; i < variables_.size(); ++i) {
      const Tensor current_value = variables_[i].value();
      if (current_value.id() == values_before_[i].id()) continue;
      written_values_[i].push_back(is_floating(current_value.dtype())
                                       ? current_value * share_.shard(shard).weight()
                                       : current_value);
      variables_[i].assign(values_before_[i]);
      values_before_[i] = variables_[i].value();
    }
  }
  void assign_means() const {
    for (size_t i = 0; i < variables_.size(); ++i) {
      const Tensors& values = written_values_[i];
      if (values.empty()) continue;
      const bool is_float = is_floating(variables_[i].dtype());
      variables_[i].assign(is_float ? shard_sum(values) : values.front());
    }
  }

 private:
  const Share& share_;
  Variables variables_;
  Tensors values_before_;
  std::vector<Tensors> written_values_;
};

Tensor joined_output(const std::vector<Tensors>& outputs, size_t output_index, const Share& share) {
  Tensors values, masks;
  for (size_t s = 0; s < outputs.size(); ++s) {
    const Tensor& shard_output = outputs[s].at(output_index);
    const int64_t rows = share.shard(static_cast<int64_t>(s)).count;
    if (shard_output.rank() == 0 || shard_output.dim(0) != rows)
      fail("expected an output with a row for each of ", rows, " samples, got shape ",
           shard_output.shape());
    values.push_back(value_of(shard_output));
    if (shard_output.mask()) masks.push_back(shard_output.mask());
  }
  const Tensor whole_output = concatenate_shards(values);
  return masks.size() == values.size() ? whole_output.with_mask(concatenate_shards(masks))
                                       : whole_output;
}

}  // namespace

Tensors call_on_shards(Model& model, const Share& share, const Tensors& x, bool training,
                       ShardReads& shard_reads) {
  const std::vector<RowsInDraw> draws = draws_of(model, x, training);
  ShardState state(model, share);
  Tensors whole_draws;
  std::vector<Tensors> outputs, losses;
  {
    Lockstep lockstep(share.shards);
    for (int64_t s = 0; s < share.shards; ++s) {
      lockstep.begin(s);
      const ShareScope scope(share.shard(s));
      const RowDraws row_draws(share.shard(s), draws, &whole_draws);
      CallOptions options;
      options.training = training;
      outputs.push_back(model(rows_of_shard(x, share, s), options));
      losses.push_back(added_losses(model));
      state.collect_writes(s);
    }
    lockstep.finish();
    shard_reads = lockstep.take_reads();
  }
  state.assign_means();
  for (size_t i = 0; i < losses.front().size(); ++i) {
    Tensors weighted_losses;
    for (size_t s = 0; s < losses.size(); ++s)
      weighted_losses.push_back(losses[s].at(i) * share.shard(static_cast<int64_t>(s)).weight());
    model.add_loss(shard_sum(weighted_losses));
  }
  Tensors whole_outputs;
  for (size_t i = 0; i < outputs.front().size(); ++i)
    whole_outputs.push_back(joined_output(outputs, i, share));
  return whole_outputs;
}

namespace {

/// Sums gradients of many variables over the shards. Small gradients are summed together.
class ShardSums {
 public:
  /// Adds the gradients of a variable, one for each shard. Sets `sum` at once if they are large;
  /// otherwise finish() sets it.
  void add(Tensors shard_values, Tensor& sum) {
    const int64_t element_count = shard_values.front().size();
    if (element_count > kSmallGradient) {
      sum = shard_sum(shard_values);
      return;
    }
    Bucket& bucket = buckets_[shard_values.front().dtype()];
    bucket.push_back({std::move(shard_values), &sum});
  }
  void finish() {
    for (const auto& [dtype, bucket] : buckets_) sum_together(bucket);
  }

 private:
  struct PendingSum {
    Tensors shard_values;
    Tensor* sum;
  };
  using Bucket = std::vector<PendingSum>;

  static void sum_together(const Bucket& bucket) {
    std::vector<int64_t> sizes;
    for (const PendingSum& pending_sum : bucket)
      sizes.push_back(pending_sum.shard_values.front().size());
    Tensors flattened_tensors;
    for (size_t s = 0; s < bucket.front().shard_values.size(); ++s) {
      Tensors flat_values;
      for (const PendingSum& pending_sum : bucket)
        flat_values.push_back(ops::reshape(pending_sum.shard_values[s], {-1}));
      flattened_tensors.push_back(ops::concatenate(flat_values, 0));
    }
    const Tensors sums = ops::split(shard_sum(flattened_tensors), sizes, 0);
    for (size_t i = 0; i < bucket.size(); ++i)
      *bucket[i].sum = ops::reshape(sums[i], bucket[i].shard_values.front().shape());
  }

  std::map<DType, Bucket> buckets_;
};

Tensor sum_of_present(const Tensor& sum, const Tensor& term) {
  return sum && term ? ops::add(sum, term) : sum ? sum : term;
}

}  // namespace

Tensors shard_gradients(GradientTape& tape, const Tensor& loss, const Variables& variables,
                        const ShardReads& shard_reads) {
  Tensors sources;
  // For each variable: the indices in `sources` of its values that were read outside of the shards,
  // and the indices of its values that each shard has read.
  std::vector<std::vector<size_t>> direct_sources(variables.size());
  std::vector<std::vector<std::vector<size_t>>> sources_by_shard(variables.size());
  const auto add_source = [&](const Tensor& value) {
    sources.push_back(value);
    return sources.size() - 1;
  };
  for (size_t i = 0; i < variables.size(); ++i) {
    const auto variable_reads = shard_reads.find(variables[i].id());
    std::vector<const void*> shard_value_ids;
    if (variable_reads != shard_reads.end()) {
      for (const Tensors& values_of_shard : variable_reads->second) {
        sources_by_shard[i].emplace_back();
        for (const Tensor& value : values_of_shard) {
          sources_by_shard[i].back().push_back(add_source(value));
          shard_value_ids.push_back(value_id(value));
        }
      }
    }
    for (const Tensor& value : values_read(tape, variables[i]))
      if (std::find(shard_value_ids.begin(), shard_value_ids.end(), value_id(value)) ==
          shard_value_ids.end())
        direct_sources[i].push_back(add_source(value));
  }
  const Tensors source_gradients = tape.gradient(loss, std::span<const Tensor>(sources));
  const auto sum_of = [&](const std::vector<size_t>& indices) {
    Tensor sum;
    for (size_t index : indices) sum = sum_of_present(sum, source_gradients[index]);
    return sum;
  };
  Tensors gradients(variables.size());
  ShardSums sums;
  // The loop begins with the last variable, because the backward pass computes its gradient first.
  for (size_t i = variables.size(); i-- > 0;) {
    Tensors gradients_of_shards;
    for (const auto& indices : sources_by_shard[i]) gradients_of_shards.push_back(sum_of(indices));
    if (std::none_of(gradients_of_shards.begin(), gradients_of_shards.end(),
                     [](const Tensor& g) { return bool(g); }))
      continue;
    for (Tensor& g : gradients_of_shards)
      if (!g) g = Tensor::full(variables[i].shape(), 0, variables[i].dtype());
    const ProgramScope scope(variables[i].path());
    sums.add(std::move(gradients_of_shards), gradients[i]);
  }
  sums.finish();
  for (size_t i = 0; i < variables.size(); ++i)
    gradients[i] = sum_of_present(gradients[i], sum_of(direct_sources[i]));
  return gradients;
}

}  // namespace crescent
