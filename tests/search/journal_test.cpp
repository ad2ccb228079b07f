// The journal of a study: incomplete and damaged lines, a full disk, and locks of trials.
#include "search/journal.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "crescent/system/process.h"
#include "support.h"

namespace {

using namespace crescent;
using searches::TemporaryFile;

std::vector<std::string> records_of(Journal& journal) {
  std::vector<std::string> records;
  const Journal::Lock lock(journal);
  journal.read([&](const Value& value) { records.push_back(to_json(value)); });
  return records;
}

void append(Journal& journal, const Value& record) {
  const Journal::Lock lock(journal);
  journal.read([](const Value&) {});
  journal.append(record);
}

std::string file_text(const std::string& path) { return read_file(path); }

void write(const std::string& path, const std::string& text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  REQUIRE(::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

}  // namespace

TEST_CASE("What one journal appends another one reads, once") {
  const TemporaryFile file;
  Journal a(file.path()), b(file.path());
  append(a, Dict{{"x", 1}});
  append(b, Dict{{"y", "line\nfeed"}});
  CHECK(records_of(a) == std::vector<std::string>{R"({"y": "line\nfeed"})"});
  CHECK(records_of(a).empty());
  CHECK(records_of(b).empty());
  Journal c(file.path());
  CHECK(records_of(c).size() == 2);
}

TEST_CASE("A line that was cut at any byte is removed, and the journal goes on") {
  const TemporaryFile file;
  {
    Journal journal(file.path());
    append(journal, Dict{{"first", 1}});
    append(journal, Dict{{"second", 2}});
  }
  const std::string content = file_text(file.path());
  const size_t first_length = content.find('\n') + 1;
  for (size_t length = first_length; length < content.size(); ++length) {
    INFO(length);
    write(file.path(), content.substr(0, length));
    Journal journal(file.path());
    CHECK(records_of(journal).size() == 1);
    append(journal, Dict{{"second", 2}});
    CHECK(file_text(file.path()) == content);
  }
}

TEST_CASE("A damaged line is an error that says where it is") {
  const TemporaryFile file;
  {
    Journal journal(file.path());
    for (int i = 0; i < 3; ++i) append(journal, Dict{{"number", i}});
  }
  const std::string content = file_text(file.path());
  for (size_t i = 0; i < content.size(); ++i) {
    if (content[i] == '\n') continue;
    std::string damaged_content = content;
    damaged_content[i] = static_cast<char>(damaged_content[i] ^ 1);
    write(file.path(), damaged_content);
    Journal journal(file.path());
    const auto line = 1 + std::count(content.begin(), content.begin() + static_cast<long>(i), '\n');
    INFO("byte " << i);
    CHECK_THROWS_WITH(records_of(journal), Catch::Contains(concat("damaged in line ", line)));
    CHECK(file_text(file.path()) == damaged_content);
  }
}

TEST_CASE("A file is visited up to its last whole line, and is not changed") {
  const TemporaryFile file;
  {
    Journal journal(file.path());
    append(journal, Dict{{"first", 1}});
    append(journal, Dict{{"second", 2}});
  }
  const std::string content = file_text(file.path());
  for (size_t length = 0; length <= content.size(); ++length) {
    INFO(length);
    write(file.path(), content.substr(0, length));
    REQUIRE(chmod(file.path().c_str(), 0444) == 0);
    int64_t line_count = 0;
    Journal::visit_file(file.path(), [&](const Value& value) {
      CHECK(to_json(value) == (++line_count == 1 ? R"({"first": 1})" : R"({"second": 2})"));
    });
    CHECK(line_count ==
          std::count(content.begin(), content.begin() + static_cast<long>(length), '\n'));
    CHECK(file_text(file.path()) == content.substr(0, length));
    REQUIRE(chmod(file.path().c_str(), 0644) == 0);
  }
  write(file.path(), "00000000 {}\n");
  CHECK_THROWS_WITH(Journal::visit_file(file.path(), [](const Value&) {}),
                    Catch::Contains("damaged in line 1"));
  CHECK_THROWS_WITH(Journal::visit_file(file.path() + ".none", [](const Value&) {}),
                    Catch::Contains("cannot read"));
}

TEST_CASE("A record that the disk has no room for leaves the journal as it was") {
  const TemporaryFile file;
  Journal journal(file.path());
  append(journal, Dict{{"first", 1}});
  const std::string old_content = file_text(file.path());
  auto child = Process::copy([&] {
    const rlimit limit{old_content.size() + 10, old_content.size() + 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    Journal limited_journal(file.path());
    try {
      append(limited_journal, Dict{{"second", std::string(100, 'x')}});
    } catch (const Error& error) {
      return std::string_view(error.what()).find("cannot write the journal") != std::string::npos
                 ? 0
                 : 2;
    }
    return 3;
  });
  CHECK(child.wait() == 0);
  CHECK(file_text(file.path()) == old_content);
  append(journal, Dict{{"second", 2}});
  CHECK(records_of(journal).empty());
}

TEST_CASE("Locks of trials go with their process") {
  const TemporaryFile file;
  Journal journal(file.path());
  int ready_pipe[2];
  REQUIRE(pipe(ready_pipe) == 0);
  auto child = Process::copy([&] {
    Journal child_journal(file.path());
    const Journal::Lock lock(child_journal);
    const bool holds_both = child_journal.try_hold(1) && child_journal.try_hold(2);
    child_journal.release(2);
    if (::write(ready_pipe[1], holds_both ? "y" : "n", 1) != 1) return 1;
    pause();
    return 0;
  });
  char answer = 0;
  REQUIRE(read(ready_pipe[0], &answer, 1) == 1);
  CHECK(answer == 'y');
  CHECK_FALSE(journal.try_hold(1));
  CHECK(journal.try_hold(2));
  child.kill();
  const Journal::Lock lock(journal);
  CHECK(journal.try_hold(1));
  close(ready_pipe[0]);
  close(ready_pipe[1]);
}

TEST_CASE("What is no regular file is refused") {
  CHECK_THROWS_WITH(Journal("/dev/null"), Catch::Contains("not a regular file"));
  CHECK_THROWS_WITH(Journal("/nowhere/journal"), Catch::Contains("cannot open the journal"));
  const TemporaryFile fifo;
  REQUIRE(mkfifo(fifo.path().c_str(), 0600) == 0);
  CHECK_THROWS_WITH(Journal::visit_file(fifo.path(), [](const Value&) {}), Catch::Contains("FIFO"));
}
