// Runs the program in a temporary folder, as a user does.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <string>

namespace fs = std::filesystem;

/// A temporary folder, which is removed at the end of the scope.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "crescent-tools-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path_ = name;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  std::string operator/(const char* name) const { return path_ + "/" + name; }
  size_t count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

struct Outcome {
  int status;        ///< exit status of the program
  std::string text;  ///< standard output and standard error together
};

/// Runs the shell command that consists of `environment`, such as "NAME=value", the program and the
/// arguments.
inline Outcome run_crescent(const std::string& arguments, const std::string& environment = "") {
  FILE* pipe = popen((environment + " " CRESCENT_PROGRAM " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  std::string text;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  return {WEXITSTATUS(pclose(pipe)), text};
}
