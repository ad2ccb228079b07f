// Files of well-known data sets, where Keras keeps them: $KERAS_HOME/datasets or
// ~/.keras/datasets. Nothing is downloaded.
#pragma once
#include <string>
#include <vector>

#include "crescent/io/format.h"

namespace crescent {

struct DatasetFile {
  const char* dataset;  ///< "mnist"
  std::string name;     ///< below the folder; or a path that begins with a slash
  std::string origin;   ///< where Keras gets it from
};

/// The path; where the file is not there, an error that says what to put where.
std::string path_of(const DatasetFile& file);
/// The arrays of an archive of NumPy.
NamedTensors arrays_of(const DatasetFile& file);
Tensor array_named(const NamedTensors& arrays, const std::string& name, const DatasetFile& file);

/// Members of a folder, or of a packed archive of it (.tar.gz), whichever is there.
class MemberFiles {
 public:
  /// `folder` is that of the members; `others` are folders and archives where it may be instead.
  MemberFiles(const DatasetFile& folder, const std::vector<std::string>& others);
  /// "where/name", for messages.
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string text(const std::string& name) const;

 private:
  std::string folder_;   ///< or the path of the archive
  std::string archive_;  ///< unpacked
  std::string prefix_;   ///< of names in it
};

}  // namespace crescent
