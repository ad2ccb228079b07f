#include "disk.h"

#include <filesystem>

#include "system_calls.h"

namespace crescent::simulation {

namespace fs = std::filesystem;

Disk::Disk(std::string folder) : folder_(std::move(folder)), link_folder_(folder_ + ".kept") {
  fs::create_directory(folder_);
  fs::create_directory(link_folder_);
}

Disk::~Disk() {
  fs::remove_all(folder_);
  fs::remove_all(link_folder_);
}

std::vector<std::string> Disk::files() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
    if (std::string name = entry.path().filename(); name.find(".tmp-") == name.npos)
      names.push_back(std::move(name));
  return names;
}

void Disk::after_creation(const std::string& path) {
  changes_.push_back({Change::Kind::creation, path, "", ""});
  unsynced_[path] = 0;
}

void Disk::before_write(const std::string& path) {
  unsynced_.try_emplace(path, fs::file_size(path));
}

void Disk::after_sync(const std::string& path) {
  if (path == folder_)
    changes_.clear();
  else
    unsynced_.erase(path);
}

void Disk::before_rename(const std::string& from, const std::string& to) {
  changes_.push_back({Change::Kind::renaming, from, to, make_link(to)});
  auto data = unsynced_.extract(from);
  unsynced_.erase(to);
  if (data.empty()) return;
  data.key() = to;
  unsynced_.insert(std::move(data));
}

void Disk::before_removal(const std::string& path) {
  changes_.push_back({Change::Kind::removal, path, "", make_link(path)});
}

/// Gives the file a second name (a hard link), so that its content survives when the first name is
/// removed or replaced. Returns the second name.
std::string Disk::make_link(const std::string& path) {
  if (!fs::exists(path)) return {};
  const std::string link = link_folder_ + "/" + std::to_string(links_++);
  fs::create_hard_link(path, link);
  return link;
}

void Disk::undo(const Change& change) {
  const WithoutSimulation without_simulation;
  if (change.kind == Change::Kind::creation) fs::remove(change.path);
  if (change.kind == Change::Kind::renaming) {
    fs::rename(change.to, change.path);
    unsynced_.erase(change.to);
  }
  if (change.replaced.empty()) return;
  fs::rename(change.replaced, change.kind == Change::Kind::removal ? change.path : change.to);
}

void Disk::lose_power(const std::function<int64_t(int64_t)>& draw) {
  for (int64_t remaining = draw(static_cast<int64_t>(changes_.size()) + 1); remaining > 0;
       --remaining) {
    undo(changes_.back());
    changes_.pop_back();
  }
  changes_.clear();
  for (const auto& [path, synced] : unsynced_) {
    if (!fs::exists(path)) continue;
    const auto unsynced_bytes = static_cast<int64_t>(fs::file_size(path) - synced);
    fs::resize_file(path, synced + static_cast<uint64_t>(draw(unsynced_bytes + 1)));
  }
  unsynced_.clear();
}

}  // namespace crescent::simulation
