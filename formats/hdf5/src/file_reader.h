// Reads objects of an untrusted HDF5 file by their names. libhdf5 runs in another process, which is
// sandboxed. Objects are never enumerated recursively, links to other files are not followed, and
// sizes are checked before memory is allocated. Every error names the path and the object in the
// file.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "child.h"
#include "crescent/base/progress.h"
#include "crescent/tensor/tensor.h"
#include "file_lease.h"
#include "seal.h"

namespace crescent::hdf5 {

struct DatasetInfo {
  ElementType type = ElementType::float32;
  std::vector<uint64_t> shape;
  /// The CRC-32C of the dataset's bytes; nullopt if the file has no checksum.
  std::optional<uint32_t> checksum;
  /// the offset in the file, if the values are contiguous and represented as in memory
  std::optional<uint64_t> file_offset;
  uint64_t rows_per_chunk = 1;  ///< the number of rows (indices of the first axis) in a chunk
};

class FileReader {
 public:
  /// Opens a file; fails unless it is a readable HDF5 file or a Keras archive that contains one.
  explicit FileReader(const std::string& path);
  ~FileReader();

  /// The value of an attribute; nullopt if the object or the attribute does not exist.
  std::optional<AttributeValue> attribute(const std::string& object, const std::string& name);
  std::optional<std::string> text(const std::string& object, const std::string& name);
  /// The value of an attribute that is a list of texts, which may be empty; nullopt if there is no
  /// such attribute. The numbered attributes into which Keras splits a long list are joined.
  std::optional<std::vector<std::string>> texts(const std::string& object, const std::string& name);
  /// Reads the attribute `name`, a list of texts, of each object with a single request.
  std::vector<std::optional<std::vector<std::string>>> texts(
      const std::vector<std::string>& objects, const std::string& name);

  /// The text of the member `name` of the archive, such as config.json; nullopt if there is none or
  /// the file is not an archive.
  std::optional<std::string> member(const std::string& name);
  /// The names of the members of the archive that begin with `prefix`; none if the file is not an
  /// archive.
  std::vector<std::string> member_names(const std::string& prefix);

  /// The names of the members of a group; nullopt if it does not exist.
  std::optional<std::vector<std::string>> members(const std::string& group);

  /// The types and shapes of datasets, without reading values; fails for a missing dataset.
  std::vector<DatasetInfo> describe(const std::vector<std::string>& datasets);
  /// Reads the values of datasets, compares them with their checksums, and returns arrays that
  /// share memory. `infos` are the results of describe(). May be called only once.
  std::vector<Array> read(const std::vector<std::string>& datasets,
                          const std::vector<DatasetInfo>& infos);

  /// Prevents other programs from changing the file while this object exists, so that read() can
  /// return arrays that refer to the mapped file. Returns false if the system does not support
  /// this.
  bool prevent_changes();
  /// Fails if the file was changed in spite of prevent_changes(), or could not be read.
  void check_unchanged() const;
  /// Whether the values that read() returns for this dataset are in the mapped file.
  bool stays_in_file(const DatasetInfo& info) const;

  /// Reads the rows [first, first + count) of the first axis; the result is valid until the next
  /// call.
  const std::byte* read_rows(const std::string& dataset, const DatasetInfo& info, uint64_t first,
                             uint64_t count);
  /// The largest number of bytes that read_rows() may be asked for, unless a single row is larger.
  static constexpr uint64_t kWindowBytes = uint64_t{4} << 20;

  const std::string& path() const { return path_; }
  /// The storage of the whole file. Tensors whose values stay in the file refer to it.
  const std::shared_ptr<Storage>& contents() const { return contents_; }

 private:
  struct Request;
  std::vector<std::optional<Unpacker>> ask_reader(const Request& request,
                                                  FileProgress* progress = nullptr);
  void check_greeting();
  [[noreturn]] void fail_reader_ended(const std::string& title);

  struct ChunkCheck;
  ChunkCheck check_chunk(const DatasetInfo& info, uint64_t offset, uint64_t size,
                         std::byte* bytes) const;
  std::shared_ptr<std::byte> read_packed(const Request& request, uint64_t total_bytes,
                                         FileProgress& progress);

  std::string path_;
  uint64_t size_ = 0;
  Descriptor memory_;
  std::unique_ptr<Child> child_;
  int file_ = -1;  // the descriptor of the file, which contents_ closes
  std::shared_ptr<Storage> contents_;
  std::optional<FileLease> lease_;
  int64_t change_time_ = 0;  // the time of the file's last change when prevent_changes() was called
  Tensor mapped_file_;       // the mapped file; null unless prevent_changes() has returned true
  std::shared_ptr<std::byte> row_window_;
};

}  // namespace crescent::hdf5
