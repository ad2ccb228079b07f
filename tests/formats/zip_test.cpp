// Zip archives (faults F05 and F13 of tests/faults/README.md): archives of Keras and Python are
// read; ambiguous archives and decompression bombs are refused; nothing is unpacked to the disk.
#include <zlib.h>

#include "files/zip/archive.h"
#include "files/zip/image.h"
#include "files/zip/layout.h"
#include "keras_file.h"
#include "models.h"

namespace crescent::hdf5 {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// Opens an archive that is in memory.
zip::Archive open_in_memory(const std::string& bytes) {
  return zip::Archive(bytes.size(), [&bytes](uint64_t offset, std::span<std::byte> target) {
    REQUIRE(offset <= bytes.size());
    REQUIRE(target.size() <= bytes.size() - offset);
    if (!target.empty()) std::memcpy(target.data(), bytes.data() + offset, target.size());
  });
}

std::string archive_bytes(const std::vector<zip::File>& files) {
  const zip::Image image(files);
  std::string bytes;
  for (const zip::Bytes& piece : image.pieces())
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return bytes;
}

/// The error message when this member of an archive with damaged bytes is read.
std::string refusal_message(const std::string& bytes, const std::string& name = "a") {
  try {
    const zip::Archive archive = open_in_memory(bytes);
    if (const zip::Member* member = archive.find(name)) archive.text(*member);
  } catch (const zip::ArchiveError& archive_error) {
    return archive_error.what();
  }
  return "";
}

/// An archive with one member, in which the test sets every header field.
struct CraftedMember {
  std::string name = "a", name_before = name, data = "hello", extra_before = {}, extra = {},
              comment = {};
  uint16_t method = 0, flags = 0;
  uint32_t attributes = 0, header = 0;
  std::optional<uint32_t> size = {}, stored = {}, checksum = {};

  uint32_t crc() const {
    const auto* start = reinterpret_cast<const Bytef*>(data.data());
    return checksum.value_or(static_cast<uint32_t>(crc32_z(0, start, data.size())));
  }
  zip::Record common_record() const {
    const auto length = static_cast<uint32_t>(data.size());
    zip::Record record;
    record.add(uint16_t{20}).add(flags).add(method).add(uint32_t{0}).add(crc());
    record.add(stored.value_or(length)).add(size.value_or(length));
    return record;
  }
  std::string local_part() const {
    zip::Record record;
    record.add(zip::kLocalSignature).bytes += common_record().bytes;
    record.add(static_cast<uint16_t>(name_before.size()));
    record.add(static_cast<uint16_t>(extra_before.size()));
    return record.bytes + name_before + extra_before + data;
  }
  std::string directory_entry() const {
    zip::Record record;
    record.add(zip::kEntrySignature).add(uint16_t{3 << 8 | 20}).bytes += common_record().bytes;
    record.add(static_cast<uint16_t>(name.size())).add(static_cast<uint16_t>(extra.size()));
    record.add(uint16_t{0}).add(uint16_t{0}).add(uint16_t{0}).add(attributes).add(header);
    return record.bytes + name + extra;
  }
};

struct EndRecord {
  std::optional<uint16_t> count = {}, count_here = {};
  std::optional<uint32_t> size = {}, start = {};
  uint16_t disk = 0;
  std::string comment = {};
  uint16_t comment_length = static_cast<uint16_t>(comment.size());
};

std::string crafted_archive(std::vector<CraftedMember> members, const EndRecord& end = {}) {
  std::string bytes, directory;
  for (CraftedMember& member : members) {
    if (member.header == 0) member.header = static_cast<uint32_t>(bytes.size());
    bytes += member.local_part();
    directory += member.directory_entry();
  }
  const auto count = end.count.value_or(static_cast<uint16_t>(members.size()));
  zip::Record record;
  record.add(zip::kEndSignature).add(end.disk).add(uint16_t{0});
  record.add(end.count_here.value_or(count)).add(count);
  record.add(end.size.value_or(static_cast<uint32_t>(directory.size())));
  record.add(end.start.value_or(static_cast<uint32_t>(bytes.size()))).add(end.comment_length);
  return bytes + directory + record.bytes + end.comment;
}

std::string deflated(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string compressed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}

CraftedMember compressed_member(const std::string& text) {
  CraftedMember member{.data = deflated(text), .method = 8};
  member.size = static_cast<uint32_t>(text.size());
  member.checksum =
      static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
  return member;
}

TEST_CASE("what is written to an archive is read from it") {
  const std::string first = "first", large(300'000, 'x'), empty;
  const std::string bytes = archive_bytes(
      {{"first", {bytes_of(first)}}, {"empty", {}}, {"large", {bytes_of(large), bytes_of(first)}}});
  const zip::Archive archive = open_in_memory(bytes);
  REQUIRE(archive.members().size() == 3);
  CHECK(archive.text(*archive.find("first")) == first);
  CHECK(archive.text(*archive.find("empty")) == empty);
  CHECK(archive.text(*archive.find("large")) == large + first);
  CHECK(archive.find("large")->start % 4096 == 0);  // large members begin at a page boundary
  CHECK(archive.find("none") == nullptr);
  CHECK(archive_bytes({{"first", {bytes_of(first)}}}) ==
        archive_bytes({{"first", {bytes_of(first)}}}));
}

TEST_CASE("deflated members, comments, data descriptors and large numbers are understood") {
  CHECK(refusal_message(crafted_archive({compressed_member("hello hello hello hello")})) == "");
  const std::string with_comment = crafted_archive(
      {{}}, {.comment = std::string("PK\5\6 is no directory here") + std::string(30, 'x')});
  CHECK(open_in_memory(with_comment).text(*open_in_memory(with_comment).find("a")) == "hello");
  CHECK(refusal_message(crafted_archive({{.flags = 1 << 3}})) == "");
  zip::Record numbers;
  numbers.add(zip::kZip64Extra).add(uint16_t{24}).add(uint64_t{5}).add(uint64_t{5});
  numbers.add(uint64_t{0});
  CraftedMember large{.extra = numbers.bytes};
  large.size = large.stored = large.header = zip::kInZip64Extra;
  const std::string bytes = crafted_archive({large});
  CHECK(open_in_memory(bytes).text(*open_in_memory(bytes).find("a")) == "hello");
}

TEST_CASE("F05: crafted archives are refused, or what is not asked for is ignored") {
  using C = CraftedMember;
  const std::string text = "hello";
  const struct {
    const char* description;
    std::string bytes, part;
  } cases[] = {
      {"nothing", "", "no directory"},
      {"too short", "PK\5\6", "no directory"},
      {"only a beginning", "PK\3\4" + std::string(40, '\0'), "no directory"},
      {"cut off at its end", crafted_archive({C{}}).substr(0, 100), "no directory"},
      {"bytes after its end", crafted_archive({C{}}) + "x", "no directory"},
      {"comment that is shorter", crafted_archive({C{}}, {.comment = "abc", .comment_length = 2}),
       "no dir"},
      {"two parts", crafted_archive({C{}}, {.disk = 1}), "part of several"},
      {"other count here", crafted_archive({C{}}, {.count_here = 2}), "part of several"},
      {"more members than there are", crafted_archive({C{}}, {.count = 2}), "directory is broken"},
      {"directory elsewhere", crafted_archive({C{}}, {.start = 3}), "not where it says"},
      {"directory behind the end", crafted_archive({C{}}, {.start = 0x7fffffff}),
       "not where it says"},
      {"directory too long", crafted_archive({C{}}, {.size = 0x7fffffff}), "not where it says"},
      {"large directory without its place", crafted_archive({C{}}, {.start = zip::kInZip64Extra}),
       "no dir"},
      {"twice", crafted_archive({C{}, C{}}), "stands in it twice"},
      {"encrypted", crafted_archive({C{.flags = 1}}), "encrypted"},
      {"strongly encrypted", crafted_archive({C{.flags = 1 << 6}}), "encrypted"},
      {"a link", crafted_archive({C{.data = "/etc/passwd", .attributes = 0120777u << 16}}), "link"},
      {"unknown method", crafted_archive({C{.method = 12}}), "method 12"},
      {"two sizes", crafted_archive({C{.size = 4}}), "two sizes"},
      {"larger than the archive", crafted_archive({C{.size = 1 << 30, .stored = 1 << 30}}),
       "beyond its end"},
      {"wrong checksum", crafted_archive({C{.checksum = 1}}), "checksum differs"},
      {"another name before its bytes", crafted_archive({C{.name_before = "b"}}), "something else"},
      {"a longer name before its bytes", crafted_archive({C{.name_before = "ab"}}),
       "something else"},
      {"no header where it should be", crafted_archive({C{.header = 7}}), "something else"},
      {"header behind the end", crafted_archive({C{.header = 0x7fffffff}}), "ends too early"},
      {"large numbers that are missing", crafted_archive({C{.stored = zip::kInZip64Extra}}),
       "broken"},
      {"deflated, cut off",
       [] {
         auto c = compressed_member("hello hello");
         c.data.pop_back();
         return crafted_archive({c});
       }(),
       "cannot be unpacked"},
      {"deflated, more than it says",
       [] {
         auto c = compressed_member("hello hello");
         c.size = 5;
         return crafted_archive({c});
       }(),
       "cannot be unpacked"},
      {"deflated, less than it says",
       [] {
         auto c = compressed_member("hello");
         c.size = 50;
         return crafted_archive({c});
       }(),
       "cannot be unpacked"},
      {"deflated, with bytes after it",
       [] {
         auto c = compressed_member("hello");
         c.data += "x";
         return crafted_archive({c});
       }(),
       "cannot be unpacked"},
      {"deflated garbage", crafted_archive({C{.data = "\xff\xff\xff", .method = 8}}),
       "cannot be unpacked"},
  };
  for (const auto& [description, bytes, part] : cases) {
    INFO(description);
    CHECK_THAT(refusal_message(bytes), Catch::Contains(part));
  }
  // Names are only compared, never used as paths, so these are different members.
  for (const char* name : {"../a", "/a", "A", "a/", "./a", "a\\", "b"}) {
    C member{.name = name, .name_before = name};
    CHECK(open_in_memory(crafted_archive({member})).find("a") == nullptr);
  }
}

TEST_CASE("F05: members that share bytes are refused") {
  CraftedMember outer_member{.data = CraftedMember{.name = "b", .name_before = "b"}.local_part()};
  CraftedMember inner_member{.name = "b", .name_before = "b"};
  const auto inner_offset = static_cast<uint32_t>(zip::kLocalLength + outer_member.name.size());
  std::string bytes = outer_member.local_part(), directory = outer_member.directory_entry();
  inner_member.header = inner_offset;
  directory += inner_member.directory_entry();
  zip::Record end;
  end.add(zip::kEndSignature).add(uint32_t{0}).add(uint16_t{2}).add(uint16_t{2});
  end.add(static_cast<uint32_t>(directory.size())).add(static_cast<uint32_t>(bytes.size()));
  end.add(uint16_t{0});
  CHECK_THAT(refusal_message(bytes + directory + end.bytes), Catch::Contains("share bytes"));
}

TEST_CASE("F13: a member that grows a hundred times is refused before memory is taken") {
  const std::string zeros(80 << 20, '\0');
  CHECK_THAT(refusal_message(crafted_archive({compressed_member(zeros)})),
             Catch::Contains("promises"));
  CraftedMember wrong_size_member{.data = "x", .method = 8};
  wrong_size_member.size = 0xfffffff0;
  CHECK_THAT(refusal_message(crafted_archive({wrong_size_member})), Catch::Contains("promises"));
}

/// An archive of Keras whose members another program has compressed again.
std::string packed_archive(const std::string& archive, const std::string& weights = "") {
  const zip::Archive original_archive = open_in_memory(archive);
  std::vector<CraftedMember> members;
  for (const zip::Member& member : original_archive.members()) {
    const bool is_replaced = member.name == "model.weights.h5" && !weights.empty();
    CraftedMember crafted_member =
        compressed_member(is_replaced ? weights : original_archive.text(member));
    crafted_member.name = crafted_member.name_before = member.name;
    members.push_back(std::move(crafted_member));
  }
  return crafted_archive(members);
}

TEST_CASE("F13: packed archives of Keras are read, those that grow without end refused") {
  Scratch scratch;
  const std::string path = scratch.path("m.keras");
  auto model = small_sequential();
  crescent::save_model(*model, path);
  const std::string archive = read_bytes(path);
  write_bytes(path, packed_archive(archive));
  check_same(crescent::load_model(path)->get_weights(), model->get_weights());
  write_bytes(path, packed_archive(archive, std::string(80 << 20, '\0')));
  CHECK_THAT(failure([&] { crescent::load_model(path); }),
             Catch::Contains("promises") && Catch::Contains(path));
  CHECK(scratch.count() == 1);  // nothing was unpacked to the disk
}

}  // namespace
}  // namespace crescent::hdf5
