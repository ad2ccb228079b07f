// The files of well-known data sets in the folder where Keras stores them: $KERAS_HOME/datasets or
// ~/.keras/datasets. Nothing is downloaded.
#pragma once
#include <string>
#include <vector>

#include "crescent/io/format.h"

namespace crescent {

struct DatasetFile {
  const char* dataset;  ///< name of the data set: "mnist"
  std::string name;     ///< path relative to the folder, or an absolute path
  std::string origin;   ///< the address from which Keras downloads the file
};

/// Returns the path of the file. Fails for a missing file with a message that says which file to
/// put where.
std::string path_of(const DatasetFile& file);
/// Reads the arrays of a NumPy archive (.npz).
NamedTensors arrays_of(const DatasetFile& file);
Tensor array_named(const NamedTensors& arrays, const std::string& name, const DatasetFile& file);

/// The files of a folder or, if only the archive of the folder exists, the members of the archive
/// (.tar.gz).
class MemberFiles {
 public:
  /// Looks for `folder`, then for the folders and archives `alternative_names`.
  MemberFiles(const DatasetFile& folder, const std::vector<std::string>& alternative_names);
  /// "folder/name", for messages.
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string text(const std::string& name) const;

 private:
  std::string folder_;   ///< the folder, or the path of the archive
  std::string archive_;  ///< the uncompressed archive
  std::string prefix_;   ///< the folder of the members in the archive
};

}  // namespace crescent
