#include "training/input/gathered_batch.h"

#include "training/input/start_together.h"

namespace crescent {
namespace {

/// The number of rows that each process has.
using RowCounts = std::vector<int64_t>;

/// The dtypes and shapes of a row of each tensor of the batch, which must be equal in all
/// processes.
Dict row_specs(const Batch& batch) {
  Dict specs_by_name;
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
    specs_by_name.set(name, std::move(specs));
  }
  return specs_by_name;
}

Tensor gather_tensor(Communicator& communicator, const RowCounts& row_counts, const Share& own_rows,
                     const Tensor& own_part) {
  if (!own_part) return own_part;
  if (own_part.dtype() == DType::string)
    fail("fit: texts cannot be exchanged between processes, which each have a part of the batch");
  if (own_part.dim(0) != own_rows.count)
    fail("fit: expected ", own_rows.count, " rows in each array of a batch, got shape ",
         own_part.shape());
  TensorSpec spec = own_part.spec();
  spec.shape.set(0, own_rows.whole);
  Tensor whole_tensor = Tensor::uninitialized(spec);
  const size_t row_size = own_part.bytes() / static_cast<size_t>(own_rows.count);
  std::vector<size_t> bytes;
  for (const int64_t count : row_counts) bytes.push_back(static_cast<size_t>(count) * row_size);
  whole_tensor.storage()->copy(static_cast<size_t>(own_rows.first) * row_size, *own_part.storage(),
                               own_part.offset(), own_part.bytes());
  communicator.gather(whole_tensor.storage()->host(), bytes);
  return whole_tensor;
}

}  // namespace

GatheredBatch gather_batch(const ProcessGroup& group, const Batch& own_batch, bool gathers_inputs) {
  Communicator& communicator = *group.communicator();
  const int64_t count = own_batch.x.front().dim(0);
  const std::vector<double> counts =
      expect_equal(group, row_specs(own_batch),
                   "Each process gives its own part of every batch, of the same arrays",
                   static_cast<double>(count));
  RowCounts all_row_counts;
  GatheredBatch batch{own_batch, {0, count, 0}};
  for (const double row_count : counts) {
    if (static_cast<int>(all_row_counts.size()) == communicator.rank())
      batch.own_rows.first = batch.own_rows.whole;
    all_row_counts.push_back(static_cast<int64_t>(row_count));
    batch.own_rows.whole += all_row_counts.back();
  }
  for (Tensors* tensors :
       {&batch.whole_batch.x, &batch.whole_batch.y, &batch.whole_batch.sample_weight}) {
    if (tensors == &batch.whole_batch.x && !gathers_inputs) continue;
    for (Tensor& t : *tensors) t = gather_tensor(communicator, all_row_counts, batch.own_rows, t);
  }
  return batch;
}

}  // namespace crescent
