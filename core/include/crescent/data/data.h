// Dataset: where batches come from. Arrays in memory, generators, files larger than memory: one
// interface.
#pragma once
#include <functional>
#include <memory>

#include "crescent/base/value.h"
#include "crescent/ops/random.h"
#include "crescent/tensor/tensor.h"

namespace crescent {

template <class T>
class Schema;

struct Batch {
  Tensors x, y, sample_weight;  ///< sample_weight: empty, or one an output (no tensor where none)
};

class Dataset;
using DatasetPtr = std::shared_ptr<Dataset>;

class CRESCENT_API Dataset : public Object {
 public:
  static void describe_members(Schema<Dataset>& s);
  ~Dataset() override;
  std::string class_name() const override { return "Dataset"; }
  virtual int64_t samples() const { return -1; }  ///< -1: unknown
  virtual int64_t batches() const { return -1; }  ///< an epoch; -1: until next() says no
  /// Starts an epoch from its first batch; shuffles when it does.
  virtual void begin_epoch() = 0;
  /// False at the end of the epoch. What `batch` holds is replaced; memory that nobody else has is
  /// used again.
  virtual bool next(Batch& batch) = 0;
  /// True when next() waits for files and may be called on another thread: fit, evaluate and
  /// predict then prefetch.
  virtual bool reads_files() const { return false; }
  /// Fails when values may have been lost since next() gave them: a mapped file became shorter.
  /// next() asks too.
  virtual void check() const {}

  /// Plain values that the current epoch's batches follow from, beside the data: the state of what
  /// draws their order. Asked between begin_epoch() and the next one, it stays the same.
  virtual Value state() const { return {}; }
  /// Begins the epoch that an equal dataset, perhaps of an earlier process, was in when it gave
  /// `state`, and passes over the first `batches` of it. Without an own way, by asking for them.
  virtual void restore(const Value& state, int64_t batches);

 protected:
  friend CRESCENT_API DatasetPtr shard(const DatasetPtr& data, int64_t index, int64_t count);
  /// A better way to be cut into shards than by whole batches; none by default.
  virtual DatasetPtr own_shard(int64_t /*index*/, int64_t /*count*/) { return nullptr; }
};

/// Part `index`, from 0, of `count` that together are the data. All parts have the same number of
/// batches. Arrays are cut by rows: the i-th batches of all parts are the rows of the i-th batch of
/// the whole, which is left out where it has less rows than there are parts. Other data goes by
/// whole batches in turn, from a dataset of its own for each part; a last round that is not for
/// everyone is left out.
CRESCENT_API DatasetPtr shard(const DatasetPtr& data, int64_t index, int64_t count);

struct ArrayOptions {
  int64_t batch_size = 32;
  bool shuffle = false;
  const SeedGenerator* order =
      nullptr;  ///< draws the permutation of each epoch; needed for shuffle
};
/// All arrays share the first axis (Keras' message otherwise). Without shuffle, batches share the
/// arrays' memory; with it, rows are gathered. The last batch may be smaller. Arrays may stay in
/// files (open_array): batches then share the mapped file, or are read where its values are packed
/// or in another byte order. Files are shuffled without random access: runs of rows change places,
/// and those of a window are mixed.
CRESCENT_API DatasetPtr array_dataset(Tensors x, Tensors y, Tensors sample_weight,
                                      const ArrayOptions& options);
/// `produce` gives the next batch or false at the end of the epoch; it is asked again next epoch.
/// A run that is restored asks it as often as the saved one did, so it must give the same again.
CRESCENT_API DatasetPtr generator_dataset(std::function<bool(Batch&)> produce,
                                          int64_t batches = -1);
/// The next batches, 2 to 32 of them within 2 MiB, are made on a thread of its own while this one
/// is used. What `source` throws comes out of next() after the batches before it.
CRESCENT_API DatasetPtr prefetch(DatasetPtr source);

// ---- arrays that stay in files: what formats make (format.h) and datasets read
/// The bytes of an open file as memory of tensors (Tensor::on); takes over the descriptor.
CRESCENT_API std::shared_ptr<Storage> file_storage(int descriptor, const std::string& path);
/// The same file, where the bytes of each element of `width` bytes are in the other order.
CRESCENT_API std::shared_ptr<Storage> swapped_storage(std::shared_ptr<Storage> file, size_t width);
/// Turns the order of bytes around in each element of `width` bytes.
CRESCENT_API void swap_elements(std::byte* data, size_t bytes, size_t width);
/// The same file, where each byte that is not 0 is 1: what others wrote as truth may be any byte.
CRESCENT_API std::shared_ptr<Storage> boolean_storage(std::shared_ptr<Storage> file);
/// Makes each byte 0 or 1, as kernels expect those of a bool tensor.
CRESCENT_API void normalize_booleans(std::byte* data, size_t bytes);
/// An array in a file as an array in memory, without a copy: the mapped file. No tensor where its
/// values are not there as they are in memory, or cannot be mapped.
CRESCENT_API Tensor map_array(const Tensor& in_file);
/// Fails when the file of a mapped array has become shorter or could not be read: zeros may have
/// been in their place.
CRESCENT_API void check_intact(const Tensor& array);

}  // namespace crescent
