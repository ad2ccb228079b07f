#include "container.h"

#include <algorithm>

#include "refusal.h"

namespace crescent::hdf5 {
namespace {

bool is_archive(std::span<const std::byte> file) {
  constexpr char kZipSignature[] = {'P', 'K', 3, 4};
  return file.size() >= sizeof kZipSignature &&
         std::memcmp(file.data(), kZipSignature, sizeof kZipSignature) == 0;
}

/// Returns the result of `work`; rethrows an ArchiveError as a RefusedError.
template <class F>
auto rethrow_as_refused(const F& work) {
  try {
    return work();
  } catch (const zip::ArchiveError& error) {
    refuse(error.what());
  }
}

const zip::Member& weights_member(const zip::Archive& archive) {
  const zip::Member* member = archive.find(kWeightsMember);
  if (!member) refuse(std::string("the archive has no '") + kWeightsMember + "'");
  return *member;
}

}  // namespace

Container::Container(std::span<const std::byte> file) : image_(file) {
  if (!is_archive(file)) return;
  rethrow_as_refused([&] {
    archive_.emplace(file.size(), [file](uint64_t offset, std::span<std::byte> target) {
      if (!target.empty()) std::memcpy(target.data(), file.data() + offset, target.size());
    });
    const zip::Member& member = weights_member(*archive_);
    if (member.is_compressed()) {
      unpacked_bytes_.resize(member.size);
      archive_->unpack(member, unpacked_bytes_);
      image_ = unpacked_bytes_;
      start_.reset();
    } else {
      image_ = file.subspan(member.start, member.size);
      start_ = member.start;
    }
  });
}

void Container::check_image() const {
  if (archive_ && start_) rethrow_as_refused([&] { archive_->check(weights_member(*archive_)); });
}

void Container::write_member(const std::string& name, Packer& answer) const {
  rethrow_as_refused([&] {
    const zip::Member* member = archive_ ? archive_->find(name) : nullptr;
    if (!member) throw MissingObject{};
    if (member->size > kMaxMemberBytes) refuse("'" + name + "' is too long");
    answer.add(archive_->text(*member));
  });
}

void Container::write_names(const std::string& prefix, Packer& answer) const {
  if (!archive_) throw MissingObject{};
  const auto is_asked_for = [&](const zip::Member& member) {
    return member.name.starts_with(prefix);
  };
  const std::vector<zip::Member>& members = archive_->members();
  answer.add(static_cast<uint64_t>(std::count_if(members.begin(), members.end(), is_asked_for)));
  for (const zip::Member& member : members)
    if (is_asked_for(member)) answer.add(member.name);
}

}  // namespace crescent::hdf5
