// The disk of a simulated cluster: the files of one folder. System calls of ranks on this folder
// are events of the cluster, and may fail; those of a rank that has crashed have no effect. The
// functions of disk.cpp take precedence over those of the C library, also in shared libraries.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace crescent::simulation {

/// Records which changes a loss of power may undo: data before fsync of the file, and creations,
/// renamings and removals before fsync of the folder.
class Disk {
 public:
  /// Makes the folder, which must not exist; the destructor removes it.
  explicit Disk(std::string folder);
  ~Disk();
  Disk(const Disk&) = delete;
  const std::string& folder() const { return folder_; }
  bool has(const std::string& path) const { return path.starts_with(folder_ + "/"); }
  /// The names of the files in the folder, without the temporary files of ranks that have crashed.
  std::vector<std::string> files() const;

  // The functions after_... are called after the system call that they name, those called
  // before_... are called before it.
  void after_creation(const std::string& path);
  void before_write(const std::string& path);
  void after_sync(const std::string& path);
  void before_rename(const std::string& from, const std::string& to);
  void before_removal(const std::string& path);

  /// Undoes the last changes of the folder, as many as `draw` says, and cuts off data that were not
  /// synced.
  void lose_power(const std::function<int64_t(int64_t below)>& draw);

 private:
  /// A change of the folder: the file `path` was created, renamed to `to`, or removed.
  struct Change {
    enum class Kind { creation, renaming, removal } kind;
    std::string path, to;
    std::string replaced;  ///< a link to the file that was removed or replaced; empty if none was
  };
  std::string make_link(const std::string& path);
  void undo(const Change& change);

  std::string folder_;
  std::string link_folder_;  ///< the folder of the links to removed files
  int links_ = 0;
  std::vector<Change> changes_;               ///< since the last fsync of the folder
  std::map<std::string, uint64_t> unsynced_;  ///< how many bytes of a file are synced
};

}  // namespace crescent::simulation
