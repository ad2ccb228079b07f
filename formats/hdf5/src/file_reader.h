// Reads parts of an HDF5 file that nobody vouches for. libhdf5 runs in a process of its own, locked
// away; this class asks it for things by name. The file is never walked, nothing in it leads to
// another file, and sizes are known before memory is taken. Every error names the path and the
// place inside the file.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "child.h"
#include "crescent/tensor/tensor.h"
#include "file_lease.h"
#include "seal.h"

namespace crescent::hdf5 {

struct DatasetInfo {
  Element element = Element::float32;
  std::vector<uint64_t> shape;
  std::optional<uint32_t> checksum;  ///< of the bytes, when the writer left one
  std::optional<uint64_t> place;  ///< where they lie in the file, if in one piece and as in memory
  uint64_t rows_a_chunk = 1;      ///< rows of the leading axis that are packed together
};

class FileReader {
 public:
  /// Fails when `path` is no readable HDF5 file, or archive of Keras that holds one.
  explicit FileReader(const std::string& path);
  ~FileReader();

  /// Nothing when the object or the attribute is not there.
  std::optional<AttributeValue> attribute(const std::string& object, const std::string& name);
  std::optional<std::string> text(const std::string& object, const std::string& name);
  /// A list of names in one attribute or in the numbered pieces that Keras cuts long ones into;
  /// empty lists too.
  std::optional<std::vector<std::string>> texts(const std::string& object, const std::string& name);
  /// The same for many objects at once.
  std::vector<std::optional<std::vector<std::string>>> texts(
      const std::vector<std::string>& objects, const std::string& name);

  /// The text of another member of the archive; nothing when there is none, or no archive.
  std::optional<std::string> member(const std::string& name);

  /// Nothing when the group is not there.
  std::optional<std::vector<std::string>> members(const std::string& group);

  /// Type and shape of datasets, read from the headers alone; a missing one fails.
  std::vector<DatasetInfo> describe(const std::vector<std::string>& datasets);
  /// The numbers, in memory that the arrays share, their checksums compared. `infos` as describe
  /// gave them. Once a reader.
  std::vector<Array> read(const std::vector<std::string>& datasets,
                          const std::vector<DatasetInfo>& infos);

  /// Keeps other programs from changing the file while this reader lives, and lets read() leave
  /// numbers where they are: in the mapped file. False where the system cannot.
  bool hold();
  /// Fails when the file was changed or could not be read since hold(), in spite of it.
  void check_held() const;
  /// read() gives these numbers in the mapped file.
  bool stays_in_file(const DatasetInfo& info) const;

  /// Rows [first, first + count) of the leading axis. They stay until the next call.
  const std::byte* read_rows(const std::string& dataset, const DatasetInfo& info, uint64_t first,
                             uint64_t count);
  /// Most bytes that read_rows gives at once, unless a row is larger.
  static constexpr uint64_t kWindow = uint64_t{4} << 20;

  const std::string& path() const { return path_; }
  /// The bytes of the file, for tensors that stay there.
  const std::shared_ptr<Storage>& contents() const { return contents_; }

 private:
  struct Request;
  std::vector<std::optional<Unpacker>> ask(const Request& request);
  void check_hello();
  [[noreturn]] void fail_dead(const std::string& place);

  struct ChunkCheck;
  ChunkCheck check_chunk(const DatasetInfo& info, uint64_t offset, uint64_t size,
                         std::byte* bytes) const;
  std::shared_ptr<std::byte> read_packed(const Request& request, uint64_t total);

  std::string path_;
  uint64_t size_ = 0;
  Descriptor memory_;
  std::unique_ptr<Child> child_;
  int file_ = -1;  // contents_ owns it
  std::shared_ptr<Storage> contents_;
  std::optional<FileLease> lease_;
  int64_t changed_ = 0;  // when it was held
  Tensor mapped_;        // once it is held: the bytes of the file
  std::shared_ptr<std::byte> window_;
};

}  // namespace crescent::hdf5
