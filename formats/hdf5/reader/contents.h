// What may be read from an open HDF5 file: every look-up by name, every size checked, nothing that
// leads outside.
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
  /// Opens the file whose bytes are `image`, which must stay; nothing of it is copied. `start`:
  /// where they lie in the file that the other side has, if they do.
  Contents(std::span<const std::byte> image, std::optional<uint64_t> start);
  ~Contents();

  /// We wrote it, and nobody has written it anew since: every object that is asked for has a seal.
  bool sealed() const { return sealed_; }

  // Each appends its answer (see Operation).
  void attribute(const std::string& object, const std::string& name, Packer& answer) const;
  void describe(const std::string& dataset, Packer& answer) const;
  void list(const std::string& group, Packer& answer) const;
  /// Fills `target`, which must have exactly the size of the dataset.
  void read(const std::string& dataset, std::span<std::byte> target) const;
  /// Rows [first, first + count) of the leading axis. The dataset stays open, with memory for the
  /// chunks that rows share.
  void rows(const std::string& dataset, uint64_t first, uint64_t count,
            std::span<std::byte> target);

 private:
  Handle open(const std::string& path) const;
  Handle open(const std::string& path, H5I_type_t type) const;
  int64_t checksum_of(const OpenDataset& dataset, const std::string& path) const;
  void take_inventory(hid_t root);
  bool has_any_seal() const;
  void check_members() const;
  OpenDataset& open_for_rows(const std::string& path);

  size_t size_;
  std::optional<uint64_t> start_;
  Handle file_;
  bool sealed_ = false;
  bool ours_ = false;  ///< we wrote it, maybe before there were seals: every dataset has a checksum
  bool rewritten_ = false;  ///< by another program, which kept what we say at the root
  std::optional<Inventory> inventory_;
  std::map<std::string, std::unique_ptr<OpenDataset>> row_datasets_;
};

}  // namespace crescent::hdf5
