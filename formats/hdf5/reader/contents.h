// Reading of an untrusted HDF5 file: objects are looked up by name, all sizes are checked, and
// links to other files are not followed.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "../src/handle.h"
#include "../src/wire.h"
#include "inventory.h"

namespace crescent::hdf5 {

struct OpenDataset;

class Contents {
 public:
  /// Opens the HDF5 file with the bytes `image`, which are not copied and must outlive the object.
  /// `start` is their offset in the file that the parent process opened; nullopt if they were
  /// decompressed to memory.
  Contents(std::span<const std::byte> image, std::optional<uint64_t> start);
  ~Contents();

  /// Whether Crescent wrote the file and every object has a seal, a checksum that other programs do
  /// not write (seal.h); then no other program has rewritten the file.
  bool is_sealed() const { return is_sealed_; }

  // The operations of the protocol (wire.h); each appends its result to `answer`.
  void write_attribute(const std::string& object, const std::string& name, Packer& answer) const;
  void describe(const std::string& dataset, Packer& answer) const;
  void list(const std::string& group, Packer& answer) const;
  /// Reads a dataset to `target`, which must have the size of the dataset.
  void read(const std::string& dataset, std::span<std::byte> target) const;
  /// Reads the rows [first, first + count) of the first axis to `target`. The dataset stays open
  /// between calls, so that they share its cache of chunks.
  void read_rows(const std::string& dataset, uint64_t first, uint64_t count,
                 std::span<std::byte> target);

 private:
  Handle open(const std::string& path) const;
  Handle open(const std::string& path, H5I_type_t type) const;
  int64_t checksum_of(const OpenDataset& dataset, const std::string& path) const;
  void read_inventory(hid_t root);
  bool any_object_has_checksum() const;
  void check_members() const;
  OpenDataset& open_for_rows(const std::string& path);

  size_t size_;
  std::optional<uint64_t> start_;
  Handle file_;
  bool is_sealed_ = false;
  /// whether Crescent, or an earlier version without these seals, wrote the file, so that every
  /// dataset has a checksum
  bool is_written_by_crescent_ = false;
  /// whether another program rewrote the file and kept the attributes of the root
  bool is_rewritten_ = false;
  std::optional<Inventory> inventory_;
  std::map<std::string, std::unique_ptr<OpenDataset>> row_datasets_;
};

}  // namespace crescent::hdf5
