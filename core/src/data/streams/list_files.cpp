// The stream of the paths that match a pattern.
#include <glob.h>

#include "crescent/data/stream.h"

namespace crescent {

StreamPtr list_files(const std::string& pattern, bool shuffled, std::optional<int64_t> seed) {
  glob_t matches{};
  const int status = glob(pattern.c_str(), 0, nullptr, &matches);
  std::vector<Element> paths;
  for (size_t i = 0; status == 0 && i < matches.gl_pathc; ++i)
    paths.push_back({Value(matches.gl_pathv[i])});
  globfree(&matches);
  if (paths.empty()) fail("list_files: no files match '", pattern, "'");
  const auto count = static_cast<int64_t>(paths.size());
  StreamPtr files = list_stream(std::move(paths));
  return shuffled ? shuffle(files, {count, seed, true}) : files;
}

}  // namespace crescent
