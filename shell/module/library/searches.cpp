#include "library/searches.h"

#include <filesystem>

#include "crescent/layer/metric.h"
#include "crescent/model/model.h"
#include "crescent/program/distribution.h"

namespace crescent::lua {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJournal = "journal";
constexpr const char* kTrials = "trial_";  // the folders of trials are called so, with a number

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail("cannot make the folder '", path, "': ", error.message());
}

void remove_folder(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

/// Removes a search from its folder: the journal and the folders of its trials, nothing else.
void remove_search(const std::string& folder) {
  std::error_code ignored;
  if (!fs::exists(fs::path(folder) / kJournal, ignored)) return;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(kTrials)) fs::remove_all(entry, ignored);
  fs::remove(fs::path(folder) / kJournal, ignored);
}

/// "min" or "max": which values of the log are good; nil where the model does not know.
std::optional<std::string> direction_of(const std::shared_ptr<Model>& model,
                                        const std::string& log) {
  switch (model->direction_of(log)) {
    case Direction::down:
      return "min";
    case Direction::up:
      return "max";
    default:
      return std::nullopt;
  }
}

/// Calls a function in the first one of the processes that a launcher started, while the others
/// wait.
void in_first_process(Any function) {
  lua_State* L = current();
  const std::shared_ptr<Communicator> all = communicator();
  try {
    if (all->rank() == 0) {
      lua_pushvalue(L, function.index);
      protected_call(L, 0, 0);
    }
  } catch (const std::exception& error) {
    all->leave(error.what());
    throw;
  }
  all->barrier();
}

/// While it lives, runs of this process have nothing to do with the others.
class Alone {
 public:
  Alone() { set_communicator(nullptr), set_distribution(Distribution::none); }
  ~Alone() { set_communicator(all_), set_distribution(before_); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  std::shared_ptr<Communicator> all_ = communicator();
  Distribution before_ = distribution();
};

/// Calls a function whose training runs are of this process alone.
OnStack alone(Any function) {
  lua_State* L = current();
  const Alone scope;
  lua_pushvalue(L, function.index);
  protected_call(L, 0, 1);
  return {};
}

}  // namespace

std::vector<CallablePtr> search_functions() {
  std::vector<CallablePtr> all;
  all.push_back(bound("make_folder", &make_folder, {"path"}));
  all.push_back(bound("remove_folder", &remove_folder, {"path"}));
  all.push_back(bound("remove_search", &remove_search, {"folder"}));
  all.push_back(bound("direction_of", &direction_of, {"model", "log"}));
  all.push_back(bound("in_first_process", &in_first_process, {"function"}));
  all.push_back(bound("alone", &alone, {"function"}));
  return all;
}

}  // namespace crescent::lua
