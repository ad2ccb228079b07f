// The dataset of arrays. A batch shares the memory of arrays in memory or in mapped files, or its
// rows are gathered from the arrays or read from files.
#include "data/array_dataset.h"

#include <numeric>
#include <optional>
#include <tuple>

#include "data/file_storage.h"
#include "data/row_gather.h"
#include "data/shuffle_buffer.h"
#include "tensor/tensor_record.h"

namespace crescent {
namespace {

/// Whether the values are in a file, mapped or not.
bool is_in_file(const Tensor& array) { return !array.in_memory() || is_mapped(array); }

/// Gives `tensor` this spec and memory that the host may write; its own memory is kept if it is
/// large enough and no other tensor shares it.
void make_writable(Tensor& tensor, const TensorSpec& spec) {
  const size_t bytes = spec.bytes();
  const bool is_writable = tensor && is_unshared(tensor) && tensor.storage()->host() &&
                           !is_mapped(tensor) && tensor.storage()->bytes() >= bytes;
  if (is_writable && tensor.spec() == spec) return;
  tensor = is_writable ? Tensor::on(tensor.storage(), 0, spec) : Tensor(spec);
}

constexpr const char* kShuffleNames[] = {"none", "samples", "batches"};

/// A shard of a dataset: number `index`, from 0, of `count` shards. Each shard has a part of the
/// rows of each batch.
struct Shard {
  int64_t index = 0, count = 1;
};

class ArrayDataset final : public Dataset {
 public:
  /// `needed_rows` is empty if all rows of the inputs are needed.
  ArrayDataset(Arrays arrays, int64_t batch_size, Shuffle shuffle,
               std::optional<SeedGenerator> order, Shard shard, NeededRows needed_rows)
      : arrays_(std::move(arrays)),
        batch_size_(batch_size),
        shuffle_(shuffle),
        order_generator_(std::move(order)),
        shard_(shard),
        needed_rows_(std::move(needed_rows)),
        sample_count_(arrays_.samples()) {
    for_each_array([&](Tensor& array, bool skips_unneeded_rows) {
      if (is_in_file(array)) map_file_array(array, skips_unneeded_rows);
    });
    if (shuffle_ != Shuffle::samples) return;
    if (!file_arrays_.empty())
      shuffle_buffer_.emplace(file_arrays_, 4 * batch_size_,
                              [this](int64_t position) { return needs_inputs(position); });
    for_each_array([&](const Tensor& array, bool skips_unneeded_rows) {
      if (array.in_memory())
        row_gathers_.emplace_back(array, rows_in_order(0).count,
                                  skips_unneeded_rows || reads_files());
    });
  }

  int64_t samples() const override {
    const int64_t last_batch = batches() - 1;
    return last_batch < 0 ? 0
                          : last_batch * rows_in_order(0).count + rows_in_order(last_batch).count;
  }
  int64_t batches() const override {
    const int64_t remaining_samples = sample_count_ % batch_size_,
                  full_batches = sample_count_ / batch_size_;
    return full_batches + (remaining_samples >= shard_.count);
  }
  Batch batch_spec() const {
    const bool is_whole = rows_in_order(batches() - 1).count == rows_in_order(0).count;
    const Shape rows_shape{is_whole ? rows_in_order(0).count : -1};
    Batch batch{arrays_.x, arrays_.y, arrays_.weights};
    for (Tensors* group : {&batch.x, &batch.y, &batch.sample_weight})
      for (Tensor& t : *group)
        if (t) t = Tensor::abstract({t.dtype(), rows_shape.concat(t.shape().slice(1, t.rank()))});
    return batch;
  }
  bool reads_files() const override { return !unmapped_arrays_.empty(); }
  void check() const override {
    for (const ArrayInFile& mapped : mapped_arrays_) check_intact(mapped.array);
  }

  void begin_epoch() override {
    batches_read_ = batches_read_ahead_ = buffered_rows_ = 0;
    if (shuffle_ != Shuffle::none) state_before_order_ = order_generator_->state().value();
    if (shuffle_buffer_)
      shuffle_buffer_->begin_epoch(*order_generator_);
    else if (shuffle_ == Shuffle::samples)
      drawn_indices_ = order_generator_->permutation(sample_count_);
    else if (shuffle_ == Shuffle::batches)
      drawn_indices_ = order_generator_->permutation(sample_count_ / batch_size_);
  }

  /// The state of the random generator before it drew the order of this epoch, and the properties
  /// of the dataset on which the order depends.
  Value state() const override {
    Dict state{{"batch_size", batch_size_},
               {"shuffle", kShuffleNames[static_cast<size_t>(shuffle_)]}};
    if (state_before_order_)
      state.set("order", List{state_before_order_.data<int64_t>()[0],
                              state_before_order_.data<int64_t>()[1]});
    return state;
  }

  void restore(const Value& snapshot, int64_t batches) override {
    const Dict& state = snapshot.as_dict();
    const Value current_state = this->state();
    for (const DictEntry& entry : current_state.as_dict())
      if (entry.key != "order" && !(state.at(entry.key) == entry.value))
        fail("restore: the snapshot's run had ", entry.key, "=", state.at(entry.key),
             ", this one has ", entry.value);
    if (batches > this->batches())
      fail("restore: the snapshot's run was past ", batches, " batches, this data has ",
           this->batches());
    if (const Value* order = state.find("order")) set_order(order->as_list());
    if (shuffle_buffer_) return Dataset::restore(state, batches);
    begin_epoch();
    batches_read_ = batches_read_ahead_ = batches;
  }

  bool next(Batch& batch) override {
    check();
    if (batches_read_ >= batches()) return false;
    if (shuffle_ == Shuffle::samples) {
      next_samples(batch);
    } else {
      read_batches_ahead();
      const RowRange row_range = rows_in_arrays(batches_read_);
      fill(batch, row_range.count,
           [&](const Tensor& array, Tensor& target, const RowRange& rows_to_read) {
             take_rows(array, target, row_range, rows_to_read);
           });
    }
    ++batches_read_;
    return true;
  }

  DatasetPtr with_needed(const NeededRows& needed_rows) override {
    return std::make_shared<ArrayDataset>(arrays_, batch_size_, shuffle_, order_generator_, shard_,
                                          needed_rows);
  }

  /// Returns for each row of the last batch its index in the arrays.
  std::vector<int64_t> last_rows() const {
    if (batches_read_ == 0) return {};
    if (shuffle_ != Shuffle::samples) {
      const auto [first, count] = rows_in_arrays(batches_read_ - 1);
      std::vector<int64_t> rows(static_cast<size_t>(count));
      std::iota(rows.begin(), rows.end(), arrays_.first_row + first);
      return rows;
    }
    const auto [first, count] = rows_in_order(batches_read_ - 1);
    const auto begin = drawn_indices_.begin() + (shuffle_buffer_ ? 0 : first);
    return {begin, begin + count};
  }

 protected:
  /// All shards draw the same order; each shard takes other rows of each batch.
  DatasetPtr own_shard(int64_t index, int64_t count) override {
    const Shard shard{shard_.index * count + index, shard_.count * count};
    if (batch_size_ < shard.count)
      fail("shard: batches of ", batch_size_, " samples cannot be cut into ", shard.count,
           " parts");
    std::optional<SeedGenerator> order;
    if (order_generator_) order.emplace(0).state().assign(order_generator_->state().value());
    return std::make_shared<ArrayDataset>(arrays_, batch_size_, shuffle_, order, shard,
                                          needed_rows_);
  }

 private:
  /// The rows of this shard of batch `batch_number`, as positions in the order of the epoch.
  RowRange rows_in_order(int64_t batch_number) const {
    const int64_t first_row = batch_number * batch_size_,
                  batch_samples = std::min(batch_size_, sample_count_ - first_row);
    const int64_t begin = batch_samples * shard_.index / shard_.count,
                  end = batch_samples * (shard_.index + 1) / shard_.count;
    return {first_row + begin, end - begin};
  }
  /// The rows of batch `batch_number` as indices in the arrays. Must not be called for
  /// Shuffle::samples.
  RowRange rows_in_arrays(int64_t batch_number) const {
    RowRange row_range = rows_in_order(batch_number);
    const bool is_permuted =
        shuffle_ == Shuffle::batches && batch_number < sample_count_ / batch_size_;
    if (is_permuted) row_range.first += (drawn_indices_[batch_number] - batch_number) * batch_size_;
    return row_range;
  }

  /// The rows of a batch of `count` rows whose inputs are read.
  RowRange input_rows(int64_t count) const {
    return needed_rows_ ? needed_rows_(count) : RowRange{0, count};
  }
  /// Whether the inputs of the row at this position in the order of the epoch are read.
  bool needs_inputs(int64_t position) const {
    const auto [first, count] = rows_in_order(position / batch_size_);
    return input_rows(count).contains(position - first);
  }

  void set_order(const List& numbers) {
    if (!order_generator_ || numbers.size() != 2)
      fail("restore: expected an order of two numbers, got ", numbers);
    order_generator_->state().assign(
        Tensor::from(std::vector<int64_t>{numbers[0].as_int(), numbers[1].as_int()}, {2}));
  }

  /// Calls f(array, whether only some of its rows are read) for all inputs, targets and weights.
  template <class F>
  void for_each_array(F f) {
    for (Tensors* group : {&arrays_.x, &arrays_.y, &arrays_.weights})
      for (Tensor& array : *group)
        if (array) f(array, group == &arrays_.x && needed_rows_);
  }

  void map_file_array(Tensor& file_array, bool skips_unneeded_rows) {
    if (Tensor mapped = file_array.in_memory() ? file_array : map_array(file_array))
      mapped_arrays_.push_back({file_array = std::move(mapped), skips_unneeded_rows});
    else
      unmapped_arrays_.push_back(file_array);
    file_arrays_.push_back({file_array, skips_unneeded_rows});
  }

  /// Calls fill_tensor(array, tensor of the batch, rows of the batch that are read) for all arrays.
  template <class FillTensor>
  void fill(Batch& batch, int64_t count, FillTensor fill_tensor) const {
    const RowRange all_rows{0, count};
    const std::tuple<const Tensors&, Tensors&, RowRange> groups[] = {
        {arrays_.x, batch.x, input_rows(count)},
        {arrays_.y, batch.y, all_rows},
        {arrays_.weights, batch.sample_weight, all_rows}};
    for (const auto& [from, to, rows_to_read] : groups) {
      to.resize(from.size());
      for (size_t i = 0; i < from.size(); ++i) {
        if (from[i])
          fill_tensor(from[i], to[i], rows_to_read);
        else
          to[i] = Tensor();
      }
    }
  }

  /// Asks the operating system to read the rows of the next batches from disk ahead.
  void read_batches_ahead() {
    if (mapped_arrays_.empty()) return;
    size_t sample_bytes = 1;  // in mapped arrays
    for (const ArrayInFile& mapped : mapped_arrays_) sample_bytes += row_bytes(mapped.array);
    constexpr size_t kMaxBytes = size_t{4} << 20;
    const int64_t rows_ahead = static_cast<int64_t>(std::clamp(
        kMaxBytes / (sample_bytes * static_cast<size_t>(batch_size_)), size_t{1}, size_t{32}));
    for (; batches_read_ahead_ < std::min(batches_read_ + 1 + rows_ahead, batches());
         ++batches_read_ahead_) {
      const auto [first, count] = rows_in_arrays(batches_read_ahead_);
      for (const auto& [array, skips_unneeded_rows] : mapped_arrays_) {
        const RowRange rows_to_read = skips_unneeded_rows ? input_rows(count) : RowRange{0, count};
        if (rows_to_read.count > 0)
          read_rows_ahead(array, first + rows_to_read.first, rows_to_read.count);
      }
    }
  }

  /// Sets `target` to consecutive rows of an array: a view of an array in memory, or a tensor of
  /// which the rows `rows_to_read` are read from the file.
  void take_rows(const Tensor& array, Tensor& target, const RowRange& rows,
                 const RowRange& rows_to_read) const {
    const TensorSpec spec = rows_of(array, rows.count);
    const size_t row_size = row_bytes(array),
                 skipped_bytes = static_cast<size_t>(rows_to_read.first) * row_size,
                 offset = array.offset() + static_cast<size_t>(rows.first) * row_size;
    if (array.in_memory()) {
      if (!move_view(target, array.storage(), offset, spec))
        target = Tensor::on(array.storage(), offset, spec);
    } else {
      make_writable(target, spec);
      if (rows_to_read.count == 0) return;
      array.storage()->read(offset + skipped_bytes,
                            static_cast<size_t>(rows_to_read.count) * row_size,
                            static_cast<std::byte*>(target.mutable_raw()) + skipped_bytes);
    }
  }

  /// Fills the batch with the next samples in the drawn order or, if arrays are in files, in the
  /// order of the shuffle buffer.
  void next_samples(Batch& batch) {
    const auto [first, count] = rows_in_order(batches_read_);
    row_targets_.clear();
    const int64_t row_count = count;
    fill(batch, row_count, [&](const Tensor& array, Tensor& target, const RowRange&) {
      if (!array.storage()->memory()) make_writable(target, rows_of(array, row_count));
      if (!array.in_memory()) row_targets_.push_back(static_cast<std::byte*>(target.mutable_raw()));
    });
    const std::span row_indices(
        shuffle_buffer_ ? take_rows_from_buffer(first, count) : drawn_indices_.data() + first,
        count);
    auto next_gather = row_gathers_.begin();
    fill(batch, row_count, [&](const Tensor& array, Tensor& target, const RowRange& rows_to_read) {
      if (array.in_memory()) (*next_gather++)(row_indices, rows_to_read, target);
    });
  }

  /// Takes the rows of this shard from the buffer. The rows of other shards before them are taken
  /// too; the first row of this shard overwrites them in memory.
  const int64_t* take_rows_from_buffer(int64_t first, int64_t count) {
    for (; buffered_rows_ < first; ++buffered_rows_) shuffle_buffer_->take(row_targets_);
    buffered_rows_ += count;
    drawn_indices_.resize(count);
    for (int64_t& row : drawn_indices_) {
      row = shuffle_buffer_->take(row_targets_);
      for (size_t i = 0; i < unmapped_arrays_.size(); ++i)
        row_targets_[i] += row_bytes(unmapped_arrays_[i]);
    }
    return drawn_indices_.data();
  }

  TensorSpec rows_of(const Tensor& array, int64_t count) const {
    TensorSpec spec = array.spec();
    spec.shape.set(0, count);
    return spec;
  }

  Arrays arrays_;
  int64_t batch_size_;
  Shuffle shuffle_;
  std::optional<SeedGenerator> order_generator_;
  Shard shard_;
  NeededRows needed_rows_;     ///< empty: all rows of the inputs are read
  Tensor state_before_order_;  ///< the state of order_generator_ before it drew this epoch's order
  int64_t sample_count_;       ///< number of samples in all shards
  int64_t batches_read_ = 0;   ///< number of batches read in this epoch
  int64_t buffered_rows_ = 0;  ///< rows taken from the buffer in this epoch
  int64_t batches_read_ahead_ = 0;  ///< number of batches that the system was asked to read ahead
  /// the indices of samples, or of batches, in the drawn order
  std::vector<int64_t> drawn_indices_;
  /// arrays in files: all of them, and those that are mapped
  std::vector<ArrayInFile> file_arrays_, mapped_arrays_;
  Tensors unmapped_arrays_;              ///< arrays in files that are not mapped
  std::vector<std::byte*> row_targets_;  ///< where the next row of each unmapped array is copied
  std::optional<ShuffleBuffer> shuffle_buffer_;
  /// gather the rows of a batch; one for each array in memory
  std::vector<RowGather> row_gathers_;
};

}  // namespace

std::vector<int64_t> rows_of_last_batch(const Dataset& data) {
  const auto* arrays = dynamic_cast<const ArrayDataset*>(&data);
  return arrays ? arrays->last_rows() : std::vector<int64_t>{};
}

DatasetPtr make_array_dataset(Arrays arrays, int64_t batch_size, Shuffle shuffle,
                              const SeedGenerator* order) {
  return std::make_shared<ArrayDataset>(std::move(arrays), batch_size, shuffle,
                                        order ? std::optional(*order) : std::nullopt, Shard(),
                                        NeededRows());
}

Batch batch_spec(const Dataset& data) {
  const auto* arrays = dynamic_cast<const ArrayDataset*>(&data);
  return arrays && arrays->batches() > 0 ? arrays->batch_spec() : Batch();
}

DatasetPtr array_dataset(Tensors x, Tensors y, Tensors sample_weight, const ArrayOptions& options) {
  Arrays arrays{std::move(x), std::move(y), std::move(sample_weight)};
  if (arrays.x.empty()) fail("array_dataset: expected at least one input array");
  for (const Tensors* group : {&arrays.x, &arrays.y, &arrays.weights})
    for (const Tensor& t : *group)
      if (t && (t.rank() == 0 || t.dim(0) != arrays.samples()))
        fail("array_dataset: expected ", arrays.samples(), " samples in each array, got shape ",
             t.shape());
  if (arrays.samples() == 0) fail("array_dataset: expected at least one sample");
  if (options.batch_size < 1)
    fail("array_dataset: batch_size must be at least 1, got ", options.batch_size);
  if (options.shuffle && !options.order)
    fail("array_dataset: shuffling needs a generator that draws the order");
  return make_array_dataset(std::move(arrays), options.batch_size,
                            options.shuffle ? Shuffle::samples : Shuffle::none, options.order);
}

}  // namespace crescent
