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
zip::Archive opened(const std::string& bytes) {
  return zip::Archive(bytes.size(), [&bytes](uint64_t offset, std::span<std::byte> target) {
    REQUIRE(offset <= bytes.size());
    REQUIRE(target.size() <= bytes.size() - offset);
    if (!target.empty()) std::memcpy(target.data(), bytes.data() + offset, target.size());
  });
}

std::string image_of(const std::vector<zip::File>& files) {
  const zip::Image image(files);
  std::string bytes;
  for (const zip::Bytes& piece : image.pieces())
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return bytes;
}

/// The error message when this member of an archive with damaged bytes is read.
std::string refusal(const std::string& bytes, const std::string& name = "a") {
  try {
    const zip::Archive archive = opened(bytes);
    if (const zip::Member* member = archive.find(name)) archive.text(*member);
  } catch (const zip::ArchiveError& refused) {
    return refused.what();
  }
  return "";
}

/// An archive with one member, in which the test sets every header field.
struct Crafted {
  std::string name = "a", name_before = name, data = "hello", extra_before = {}, extra = {},
              comment = {};
  uint16_t method = 0, flags = 0;
  uint32_t attributes = 0, header = 0;
  std::optional<uint32_t> size = {}, stored = {}, checksum = {};

  uint32_t crc() const {
    const auto* start = reinterpret_cast<const Bytef*>(data.data());
    return checksum.value_or(static_cast<uint32_t>(crc32_z(0, start, data.size())));
  }
  zip::Record common() const {
    const auto length = static_cast<uint32_t>(data.size());
    zip::Record record;
    record.add(uint16_t{20}).add(flags).add(method).add(uint32_t{0}).add(crc());
    record.add(stored.value_or(length)).add(size.value_or(length));
    return record;
  }
  std::string before() const {
    zip::Record record;
    record.add(zip::kLocalSignature).bytes += common().bytes;
    record.add(static_cast<uint16_t>(name_before.size()));
    record.add(static_cast<uint16_t>(extra_before.size()));
    return record.bytes + name_before + extra_before + data;
  }
  std::string entry() const {
    zip::Record record;
    record.add(zip::kEntrySignature).add(uint16_t{3 << 8 | 20}).bytes += common().bytes;
    record.add(static_cast<uint16_t>(name.size())).add(static_cast<uint16_t>(extra.size()));
    record.add(uint16_t{0}).add(uint16_t{0}).add(uint16_t{0}).add(attributes).add(header);
    return record.bytes + name + extra;
  }
};

struct End {
  std::optional<uint16_t> count = {}, count_here = {};
  std::optional<uint32_t> size = {}, start = {};
  uint16_t disk = 0;
  std::string comment = {};
  uint16_t comment_length = static_cast<uint16_t>(comment.size());
};

std::string crafted(std::vector<Crafted> members, const End& end = {}) {
  std::string bytes, directory;
  for (Crafted& member : members) {
    if (member.header == 0) member.header = static_cast<uint32_t>(bytes.size());
    bytes += member.before();
    directory += member.entry();
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
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

Crafted packed(const std::string& text) {
  Crafted member{.data = deflated(text), .method = 8};
  member.size = static_cast<uint32_t>(text.size());
  member.checksum =
      static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
  return member;
}

TEST_CASE("what is written to an archive is read from it") {
  const std::string first = "first", large(300'000, 'x'), empty;
  const std::string bytes = image_of(
      {{"first", {bytes_of(first)}}, {"empty", {}}, {"large", {bytes_of(large), bytes_of(first)}}});
  const zip::Archive archive = opened(bytes);
  REQUIRE(archive.members().size() == 3);
  CHECK(archive.text(*archive.find("first")) == first);
  CHECK(archive.text(*archive.find("empty")) == empty);
  CHECK(archive.text(*archive.find("large")) == large + first);
  CHECK(archive.find("large")->start % 4096 == 0);  // large members begin at a page boundary
  CHECK(archive.find("none") == nullptr);
  CHECK(image_of({{"first", {bytes_of(first)}}}) == image_of({{"first", {bytes_of(first)}}}));
}

TEST_CASE("deflated members, comments, data descriptors and large numbers are understood") {
  CHECK(refusal(crafted({packed("hello hello hello hello")})) == "");
  const std::string with_comment =
      crafted({{}}, {.comment = std::string("PK\5\6 is no directory here") + std::string(30, 'x')});
  CHECK(opened(with_comment).text(*opened(with_comment).find("a")) == "hello");
  CHECK(refusal(crafted({{.flags = 1 << 3}})) == "");
  zip::Record numbers;
  numbers.add(zip::kZip64Extra).add(uint16_t{24}).add(uint64_t{5}).add(uint64_t{5});
  numbers.add(uint64_t{0});
  Crafted large{.extra = numbers.bytes};
  large.size = large.stored = large.header = zip::kInZip64Extra;
  const std::string bytes = crafted({large});
  CHECK(opened(bytes).text(*opened(bytes).find("a")) == "hello");
}

TEST_CASE("F05: crafted archives are refused, or what is not asked for is ignored") {
  using C = Crafted;
  const std::string text = "hello";
  const struct {
    const char* what;
    std::string bytes, part;
  } cases[] = {
      {"nothing", "", "no directory"},
      {"too short", "PK\5\6", "no directory"},
      {"only a beginning", "PK\3\4" + std::string(40, '\0'), "no directory"},
      {"cut off at its end", crafted({C{}}).substr(0, 100), "no directory"},
      {"bytes after its end", crafted({C{}}) + "x", "no directory"},
      {"comment that is shorter", crafted({C{}}, {.comment = "abc", .comment_length = 2}),
       "no dir"},
      {"two parts", crafted({C{}}, {.disk = 1}), "part of several"},
      {"other count here", crafted({C{}}, {.count_here = 2}), "part of several"},
      {"more members than there are", crafted({C{}}, {.count = 2}), "directory is broken"},
      {"directory elsewhere", crafted({C{}}, {.start = 3}), "not where it says"},
      {"directory behind the end", crafted({C{}}, {.start = 0x7fffffff}), "not where it says"},
      {"directory too long", crafted({C{}}, {.size = 0x7fffffff}), "not where it says"},
      {"large directory without its place", crafted({C{}}, {.start = zip::kInZip64Extra}),
       "no dir"},
      {"twice", crafted({C{}, C{}}), "stands in it twice"},
      {"encrypted", crafted({C{.flags = 1}}), "encrypted"},
      {"strongly encrypted", crafted({C{.flags = 1 << 6}}), "encrypted"},
      {"a link", crafted({C{.data = "/etc/passwd", .attributes = 0120777u << 16}}), "link"},
      {"unknown method", crafted({C{.method = 12}}), "method 12"},
      {"two sizes", crafted({C{.size = 4}}), "two sizes"},
      {"larger than the archive", crafted({C{.size = 1 << 30, .stored = 1 << 30}}),
       "beyond its end"},
      {"wrong checksum", crafted({C{.checksum = 1}}), "checksum differs"},
      {"another name before its bytes", crafted({C{.name_before = "b"}}), "something else"},
      {"a longer name before its bytes", crafted({C{.name_before = "ab"}}), "something else"},
      {"no header where it should be", crafted({C{.header = 7}}), "something else"},
      {"header behind the end", crafted({C{.header = 0x7fffffff}}), "ends too early"},
      {"large numbers that are missing", crafted({C{.stored = zip::kInZip64Extra}}), "broken"},
      {"deflated, cut off",
       [] {
         auto c = packed("hello hello");
         c.data.pop_back();
         return crafted({c});
       }(),
       "cannot be unpacked"},
      {"deflated, more than it says",
       [] {
         auto c = packed("hello hello");
         c.size = 5;
         return crafted({c});
       }(),
       "cannot be unpacked"},
      {"deflated, less than it says",
       [] {
         auto c = packed("hello");
         c.size = 50;
         return crafted({c});
       }(),
       "cannot be unpacked"},
      {"deflated, with bytes after it",
       [] {
         auto c = packed("hello");
         c.data += "x";
         return crafted({c});
       }(),
       "cannot be unpacked"},
      {"deflated garbage", crafted({C{.data = "\xff\xff\xff", .method = 8}}), "cannot be unpacked"},
  };
  for (const auto& [what, bytes, part] : cases) {
    INFO(what);
    CHECK_THAT(refusal(bytes), Catch::Contains(part));
  }
  // Names are only compared, never used as paths, so these are different members.
  for (const char* name : {"../a", "/a", "A", "a/", "./a", "a\\", "b"}) {
    C member{.name = name, .name_before = name};
    CHECK(opened(crafted({member})).find("a") == nullptr);
  }
}

TEST_CASE("F05: members that share bytes are refused") {
  Crafted outer{.data = Crafted{.name = "b", .name_before = "b"}.before()};
  Crafted inner{.name = "b", .name_before = "b"};
  const auto inner_offset = static_cast<uint32_t>(zip::kLocalLength + outer.name.size());
  std::string bytes = outer.before(), directory = outer.entry();
  inner.header = inner_offset;
  directory += inner.entry();
  zip::Record end;
  end.add(zip::kEndSignature).add(uint32_t{0}).add(uint16_t{2}).add(uint16_t{2});
  end.add(static_cast<uint32_t>(directory.size())).add(static_cast<uint32_t>(bytes.size()));
  end.add(uint16_t{0});
  CHECK_THAT(refusal(bytes + directory + end.bytes), Catch::Contains("share bytes"));
}

TEST_CASE("F13: a member that grows a hundred times is refused before memory is taken") {
  const std::string zeros(80 << 20, '\0');
  CHECK_THAT(refusal(crafted({packed(zeros)})), Catch::Contains("promises"));
  Crafted lying{.data = "x", .method = 8};
  lying.size = 0xfffffff0;
  CHECK_THAT(refusal(crafted({lying})), Catch::Contains("promises"));
}

/// An archive of Keras whose members another program has compressed again.
std::string packed_archive(const std::string& archive, const std::string& weights = "") {
  const zip::Archive original_archive = opened(archive);
  std::vector<Crafted> members;
  for (const zip::Member& member : original_archive.members()) {
    const bool replaced = member.name == "model.weights.h5" && !weights.empty();
    Crafted crafted_member = packed(replaced ? weights : original_archive.text(member));
    crafted_member.name = crafted_member.name_before = member.name;
    members.push_back(std::move(crafted_member));
  }
  return crafted(members);
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
