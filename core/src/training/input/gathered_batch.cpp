#include "training/input/gathered_batch.h"

#include "training/input/start_together.h"

namespace crescent {
namespace {

/// The number of rows of each process.
using Rows = std::vector<int64_t>;

/// The dtypes and shapes of rows, which must be equal in all processes.
Dict facts_of(const Batch& batch) {
  Dict facts;
  const std::pair<const char*, const Tensors&> groups[] = {
      {"inputs of a batch", batch.x},
      {"targets of a batch", batch.y},
      {"weights of a batch", batch.sample_weight}};
  for (const auto& [name, tensors] : groups) {
    List specs;
    for (const Tensor& t : tensors) {
      if (t && t.rank() == 0) fail("fit: expected arrays with a batch axis, got a scalar");
      const TensorSpec row = t ? TensorSpec{t.dtype(), t.shape().slice(1, t.rank())} : TensorSpec();
      specs.push_back(t ? Value(concat(row)) : Value());
    }
    facts.set(name, std::move(specs));
  }
  return facts;
}

Tensor gather_batch(Communicator& all, const Rows& rows, const Share& own, const Tensor& part) {
  if (!part) return part;
  if (part.dtype() == DType::string)
    fail("fit: texts cannot be exchanged between processes, which each have a part of the batch");
  if (part.dim(0) != own.count)
    fail("fit: expected ", own.count, " rows in each array of a batch, got shape ", part.shape());
  TensorSpec spec = part.spec();
  spec.shape.set(0, own.whole);
  Tensor whole_batch = Tensor::uninitialized(spec);
  const size_t row = part.bytes() / static_cast<size_t>(own.count);
  std::vector<size_t> bytes;
  for (const int64_t count : rows) bytes.push_back(static_cast<size_t>(count) * row);
  whole_batch.storage()->copy(static_cast<size_t>(own.first) * row, *part.storage(), part.offset(),
                              part.bytes());
  all.gather(whole_batch.storage()->host(), bytes);
  return whole_batch;
}

}  // namespace

GatheredBatch gather_batch(const ProcessGroup& group, const Batch& own, bool with_inputs) {
  Communicator& communicator = *group.communicator();
  const int64_t count = own.x.front().dim(0);
  const std::vector<double> counts = expect_equal(
      group, facts_of(own), "Each process gives its own part of every batch, of the same arrays",
      static_cast<double>(count));
  Rows all_rows;
  GatheredBatch batch{own, {0, count, 0}};
  for (const double each : counts) {
    if (static_cast<int>(all_rows.size()) == communicator.rank())
      batch.own_rows.first = batch.own_rows.whole;
    all_rows.push_back(static_cast<int64_t>(each));
    batch.own_rows.whole += all_rows.back();
  }
  for (Tensors* tensors :
       {&batch.whole_batch.x, &batch.whole_batch.y, &batch.whole_batch.sample_weight}) {
    if (tensors == &batch.whole_batch.x && !with_inputs) continue;
    for (Tensor& t : *tensors) t = gather_batch(communicator, all_rows, batch.own_rows, t);
  }
  return batch;
}

}  // namespace crescent
