#include "program/recording/lockstep.h"

#include <algorithm>

#include "program/recording/recorder.h"
#include "program/recording/shard_sum.h"
#include "program/recording/tape.h"
#include "tensor/tensor_record.h"

namespace crescent {
namespace {

thread_local Lockstep* innermost_lockstep = nullptr;

}  // namespace

Lockstep::Lockstep(int64_t shards)
    : recorder_(Recorder::current()),
      outer_lockstep_(std::exchange(innermost_lockstep, this)),
      shards_(static_cast<size_t>(shards)) {}
Lockstep::~Lockstep() { innermost_lockstep = outer_lockstep_; }

Lockstep* Lockstep::current() {
  return innermost_lockstep && innermost_lockstep->recorder_ == Recorder::current()
             ? innermost_lockstep
             : nullptr;
}

/// Ends the section of the current shard, if a shard has begun.
void Lockstep::end_section() {
  if (instructions_.empty()) return;
  if (reduction_count_ != reductions_.size())
    fail("a layer reduces over the processes ", reduction_count_, " times for a part of a batch, ",
         reductions_.size(), " times for another");
  instructions_.back().push_back(recorder_->length());
  tape_entries_.back().push_back(tape_length());
}

void Lockstep::begin(int64_t shard) {
  end_section();
  shard_ = static_cast<size_t>(shard);
  reduction_count_ = 0;
  instructions_.push_back({recorder_->length()});
  tape_entries_.push_back({tape_length()});
}

Tensor Lockstep::reduce(const Tensor& x, ReduceKind kind) {
  const size_t k = reduction_count_++;
  if (shard_ == 0) {
    reductions_.push_back({kind, Tensor::abstract(x.spec()), recorder_->scope(), {}, {}});
    recorder_->declare(reductions_.back().result);
  }
  if (k >= reductions_.size() || reductions_[k].kind != kind ||
      reductions_[k].result.spec() != x.spec())
    fail(
        "a layer reduces other values over the processes for one part of a batch than for another");
  Reduction& reduction = reductions_[k];
  reduction.inputs.push_back(x);
  reduction.outputs.push_back(reduction.result.alias());
  follow_on_tapes(x, reduction.outputs.back());
  instructions_.back().push_back(recorder_->length());
  tape_entries_.back().push_back(tape_length());
  return reduction.outputs.back();
}

namespace {

/// The op by which tapes record a reduction over shards. It has a result for each shard, all with
/// the reduced value. The gradient of the reduced value is the sum of the gradients of these
/// results.
struct LockstepReduction final : OpOf<LockstepReduction> {
  static constexpr const char* kName = "shard_reduce";
  ReduceKind kind{};
  auto fields() const { return std::tie(kind); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    return {in.begin(), in.end()};
  }
  Tensors vjp(const Vjp& v) const override {
    Tensors upstream;
    for (size_t i = 0; i < v.inputs.size(); ++i)
      upstream.push_back(v.gradients[i]
                             ? v.gradients[i]
                             : Tensor::full(v.inputs[i].shape(), 0, v.inputs[i].dtype()));
    ShardReduce op;
    op.kind = kind;
    const Tensors gradients{shard_sum(upstream)}, result{v.outputs[0]};
    return op.vjp({v.inputs, result, gradients, v.wanted});
  }
};

}  // namespace

void Lockstep::finish() {
  end_section();
  if (instructions_.size() != shards_) fail("expected ", shards_, " shards, got ", shard_ + 1);
  const int scope = recorder_->scope();
  for (const Reduction& reduction : reductions_) {
    ShardReduce op;
    op.kind = reduction.kind;
    recorder_->set_scope(reduction.scope);
    recorder_->define(std::make_shared<const ShardReduce>(op), reduction.inputs, reduction.result);
    LockstepReduction backward;
    backward.kind = reduction.kind;
    add_to_tape(std::make_shared<const LockstepReduction>(backward), reduction.inputs,
                reduction.outputs);
  }
  recorder_->set_scope(scope);
  recorder_->interleave(instructions_);
  interleave_tape(tape_entries_);
}

Tensor Lockstep::read(const Variable& variable, const Tensor& value) {
  if (!variable.trainable() || !is_floating(value.dtype()) || !tapes_are_active()) return value;
  std::vector<Tensors>& reads = reads_.try_emplace(variable.id(), shards_).first->second;
  Tensors& shard_reads = reads[shard_];
  for (const Tensor& read_value : shard_reads)
    if (originals_.at(value_id(read_value)).id() == value.id()) return read_value;
  shard_reads.push_back(value.alias());
  originals_.emplace(value_id(shard_reads.back()), value);
  return shard_reads.back();
}

}  // namespace crescent
