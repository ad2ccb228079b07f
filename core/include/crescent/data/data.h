// Dataset is the interface of everything that gives batches: arrays in memory, generators, files
// larger than memory.
#pragma once
#include <functional>
#include <memory>

#include "crescent/base/value.h"
#include "crescent/ops/random.h"
#include "crescent/tensor/tensor.h"

namespace crescent {

template <class T>
class Schema;

/// The tensors of a batch, one per input or output of a model.
struct Batch {
  /// sample_weight is empty, or has a tensor for each output; an empty Tensor means no weights
  Tensors x, y, sample_weight;
};

class Dataset;
using DatasetPtr = std::shared_ptr<Dataset>;

/// The rows [first, first + count) of a batch.
struct RowRange {
  int64_t first = 0, count = 0;
  bool contains(int64_t row) const { return row >= first && row < first + count; }
};
/// Returns, for a batch of `rows` rows, the range of rows whose inputs this process needs.
using NeededRows = std::function<RowRange(int64_t rows)>;

/// A source of batches.
class CRESCENT_API Dataset : public Object {
 public:
  static void describe_members(Schema<Dataset>& s);
  ~Dataset() override;
  std::string class_name() const override { return "Dataset"; }
  virtual int64_t samples() const { return -1; }  ///< samples in an epoch; -1: unknown
  /// The number of batches in an epoch; -1: unknown before next() returns false.
  virtual int64_t batches() const { return -1; }
  /// Starts an epoch at its first batch; a dataset that shuffles draws a new order.
  virtual void begin_epoch() = 0;
  /// Replaces the tensors of `batch` by the next batch; returns false at the end of the epoch.
  /// Memory of the old tensors is reused if no other tensor shares it.
  virtual bool next(Batch& batch) = 0;
  /// Whether next() reads files and may be called on another thread. If so, fit, evaluate and
  /// predict prefetch batches on a thread of their own.
  virtual bool reads_files() const { return false; }
  /// Fails if a mapped file has become shorter, so that earlier batches may contain zeros in place
  /// of its values. next() calls check() too.
  virtual void check() const {}

  /// The state of the random generator that draws the order of the batches: together with the data
  /// it determines the batches of the current epoch. It is constant from one begin_epoch() to the
  /// next.
  virtual Value state() const { return {}; }
  /// Begins the epoch in which an equal dataset, perhaps of an earlier process, returned `state`,
  /// and skips its first `batches` batches. The default implementation calls next() for each.
  virtual void restore(const Value& state, int64_t batches);

  /// Returns a dataset that has the batches and the state of this one but reads only those rows of
  /// x that `needed` returns. The other rows of x contain zeros or values of earlier batches;
  /// targets and weights are whole. A dataset that cannot leave out rows (the default) returns
  /// itself.
  virtual DatasetPtr with_needed(const NeededRows& needed);

 protected:
  friend CRESCENT_API DatasetPtr shard(const DatasetPtr& data, int64_t index, int64_t count);
  /// Returns shard number `index` of `count` if the dataset has its own way to divide its data;
  /// null (the default) if shard() divides it by whole batches.
  virtual DatasetPtr own_shard(int64_t /*index*/, int64_t /*count*/) { return nullptr; }
};

/// Returns shard number `index`, from 0, of the `count` shards into which a dataset is divided. All
/// shards have the same number of batches. Arrays are divided by rows: each shard has some rows of
/// every batch; a batch with fewer rows than there are shards is left out. Other datasets are
/// divided by whole batches, which the shards take in turn; if the last batches are too few to give
/// one to each shard, they are left out. Every shard then needs a dataset object of its own.
CRESCENT_API DatasetPtr shard(const DatasetPtr& data, int64_t index, int64_t count);

/// The options of array_dataset().
struct ArrayOptions {
  int64_t batch_size = 32;
  bool shuffle = false;
  /// The generator that draws the permutation of each epoch; must be given if `shuffle` is true.
  const SeedGenerator* order = nullptr;
};
/// A dataset of arrays with the same first dimension; other arrays fail with Keras' message.
/// Without shuffle, batches share the memory of the arrays; with it, rows are gathered. The last
/// batch may be smaller. Arrays may stay in files (open_array): batches then share the mapped file,
/// or are read if its values are compressed or in another byte order. Rows in files are shuffled
/// without random access: blocks of rows are permuted, then rows are mixed within a window.
CRESCENT_API DatasetPtr array_dataset(Tensors x, Tensors y, Tensors sample_weight,
                                      const ArrayOptions& options);
/// A dataset of the batches that `produce` writes until it returns false, at the end of each epoch.
/// A training run that is restored calls `produce` as often as the saved run did, so `produce` must
/// write the same batches again.
CRESCENT_API DatasetPtr generator_dataset(std::function<bool(Batch&)> produce,
                                          int64_t batches = -1);
/// A dataset that makes batches of `source` ahead, on another thread, while the current batch is
/// used: as many as fit into 2 MiB, but at least 2 and at most 32. next() rethrows an exception of
/// `source` after it has returned the batches made before.
CRESCENT_API DatasetPtr prefetch(DatasetPtr source);

// ---- arrays that stay in files: formats make them (format.h), datasets read them
/// The bytes of an open file as storage of tensors (Tensor::on); the storage closes the descriptor.
CRESCENT_API std::shared_ptr<Storage> file_storage(int descriptor, const std::string& path);
/// A storage of `file`, whose elements have `width` bytes in the opposite byte order. Reading
/// reverses the bytes of each element.
CRESCENT_API std::shared_ptr<Storage> swapped_storage(std::shared_ptr<Storage> file, size_t width);
/// Reverses the bytes of each element of `width` bytes.
CRESCENT_API void swap_elements(std::byte* data, size_t bytes, size_t width);
/// A storage of the bytes of `file` in which every nonzero byte is read as 1, because other
/// programs may write true as any nonzero byte.
CRESCENT_API std::shared_ptr<Storage> boolean_storage(std::shared_ptr<Storage> file);
/// Replaces every nonzero byte by 1, as kernels expect the bytes of a bool tensor.
CRESCENT_API void normalize_booleans(std::byte* data, size_t bytes);
/// The array as a tensor over the mapped file, without a copy. Returns an empty Tensor if the file
/// holds the values in another form than memory does, or cannot be mapped.
CRESCENT_API Tensor map_array(const Tensor& in_file);
/// Fails if the file of a mapped array has become shorter or could not be read, so that zeros may
/// have been read in place of its values.
CRESCENT_API void check_intact(const Tensor& array);

}  // namespace crescent
