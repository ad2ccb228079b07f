#include "container.h"

#include <algorithm>

#include "refusal.h"

namespace crescent::hdf5 {
namespace {

bool is_archive(std::span<const std::byte> file) {
  constexpr char kStart[] = {'P', 'K', 3, 4};
  return file.size() >= sizeof kStart && std::memcmp(file.data(), kStart, sizeof kStart) == 0;
}

/// Returns the result of `work`; rethrows an ArchiveError as a RefusedError.
template <class F>
auto rethrow_refused(const F& work) {
  try {
    return work();
  } catch (const zip::ArchiveError& refused) {
    refuse(refused.what());
  }
}

const zip::Member& weights_of(const zip::Archive& archive) {
  const zip::Member* member = archive.find(kWeightsMember);
  if (!member) refuse(std::string("the archive has no '") + kWeightsMember + "'");
  return *member;
}

}  // namespace

Container::Container(std::span<const std::byte> file) : image_(file) {
  if (!is_archive(file)) return;
  rethrow_refused([&] {
    archive_.emplace(file.size(), [file](uint64_t offset, std::span<std::byte> target) {
      if (!target.empty()) std::memcpy(target.data(), file.data() + offset, target.size());
    });
    const zip::Member& member = weights_of(*archive_);
    if (member.packed()) {
      unpacked_.resize(member.size);
      archive_->unpack(member, unpacked_);
      image_ = unpacked_;
      start_.reset();
    } else {
      image_ = file.subspan(member.start, member.size);
      start_ = member.start;
    }
  });
}

void Container::check_image() const {
  if (archive_ && start_) rethrow_refused([&] { archive_->check(weights_of(*archive_)); });
}

void Container::write_member(const std::string& name, Packer& answer) const {
  rethrow_refused([&] {
    const zip::Member* member = archive_ ? archive_->find(name) : nullptr;
    if (!member) throw Missing{};
    if (member->size > kLongestFrame / 2) refuse("'" + name + "' is too long");
    answer.add(archive_->text(*member));
  });
}

}  // namespace crescent::hdf5
