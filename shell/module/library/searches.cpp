#include "library/searches.h"

#include <filesystem>

#include "crescent/layer/metric.h"
#include "crescent/model/model.h"
#include "crescent/program/distribution.h"
#include "crescent/system/file.h"

namespace crescent::lua {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJournal = "journal";
// the beginning of the names of trial folders; a number follows
constexpr const char* kTrialPrefix = "trial_";

void remove_folder(const std::string& path) {
  std::error_code ignored_error;
  fs::remove_all(path, ignored_error);
}

/// Removes the journal of a search and the folders of its trials; other files in the folder stay.
void remove_search(const std::string& folder) {
  std::error_code ignored_error;
  if (!fs::exists(fs::path(folder) / kJournal, ignored_error)) return;
  for (const auto& entry : fs::directory_iterator(folder, ignored_error))
    if (entry.path().filename().string().starts_with(kTrialPrefix))
      fs::remove_all(entry, ignored_error);
  fs::remove(fs::path(folder) / kJournal, ignored_error);
}

/// Returns "min" or "max", the direction in which the log improves; nil if the model does not know
/// the log.
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

/// Calls a function in the first of the processes that a launcher started; the other processes wait
/// for its end.
void in_first_process(Any function) {
  lua_State* L = current();
  const std::shared_ptr<Communicator> world = communicator();
  try {
    if (world->rank() == 0) {
      lua_pushvalue(L, function.index);
      protected_call(L, 0, 0);
    }
  } catch (const std::exception& error) {
    world->leave(error.what());
    throw;
  }
  world->barrier();
}

/// While an object of this class exists, runs of this process exchange no data with other
/// processes.
class SeparateProcess {
 public:
  SeparateProcess() { set_communicator(nullptr), set_distribution(Distribution::none); }
  ~SeparateProcess() { set_communicator(communicator_), set_distribution(distribution_); }
  SeparateProcess(const SeparateProcess&) = delete;
  SeparateProcess& operator=(const SeparateProcess&) = delete;

 private:
  std::shared_ptr<Communicator> communicator_ = communicator();
  Distribution distribution_ = distribution();
};

/// Calls a function; training runs in it exchange no data with other processes.
OnStack call_without_exchange(Any function) {
  lua_State* L = current();
  const SeparateProcess scope;
  lua_pushvalue(L, function.index);
  protected_call(L, 0, 1);
  return {};
}

}  // namespace

std::vector<CallablePtr> search_functions() {
  std::vector<CallablePtr> callables;
  callables.push_back(bound("create_folder", &create_folder, {"path"}));
  callables.push_back(bound("remove_folder", &remove_folder, {"path"}));
  callables.push_back(bound("remove_search", &remove_search, {"folder"}));
  callables.push_back(bound("direction_of", &direction_of, {"model", "log"}));
  callables.push_back(bound("in_first_process", &in_first_process, {"function"}));
  callables.push_back(bound("alone", &call_without_exchange, {"function"}));
  return callables;
}

}  // namespace crescent::lua
