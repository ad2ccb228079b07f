#include "data/known_datasets.h"

#include "crescent/data/known_datasets.h"

namespace crescent::lua {
namespace {

/// The two tables {x_train, y_train} and {x_test, y_test}.
using TrainTestTensors = std::tuple<Tensors, Tensors>;

TrainTestTensors train_test_tables(const TrainAndTest& data) {
  return {{data.train.x, data.train.y}, {data.test.x, data.test.y}};
}

TrainTestTensors mnist(const std::string& path) { return train_test_tables(load_mnist(path)); }
TrainTestTensors fashion_mnist() { return train_test_tables(load_fashion_mnist()); }
TrainTestTensors cifar10() { return train_test_tables(load_cifar10()); }
TrainTestTensors cifar100(const std::string& label_mode) {
  return train_test_tables(load_cifar100(label_mode));
}
TrainTestTensors boston_housing(const std::string& path, double test_split, int64_t seed) {
  return train_test_tables(load_boston_housing(path, test_split, seed));
}
TrainTestTensors california_housing(const std::string& version, const std::string& path,
                                    double test_split, int64_t seed) {
  return train_test_tables(load_california_housing(version, path, test_split, seed));
}

// ---- IMDB and Reuters

/// The number of a word, converted from a Lua value; nil and false mean that there is none.
std::optional<int64_t> word_number(const Value& word) {
  if (word.is_null() || (word.is_bool() && !word.as_bool())) return std::nullopt;
  return word.as_int();
}

/// Pushes {texts as tables of numbers, labels as a tensor}.
void push_sequences(lua_State* L, const WordSequences& sequences) {
  reserve(L, 6);
  lua_createtable(L, 2, 0);
  push(L, sequences.texts);
  lua_rawseti(L, -2, 1);
  push(L, Tensor::from(sequences.labels, {static_cast<int64_t>(sequences.labels.size())}));
  lua_rawseti(L, -2, 2);
}

using TrainTestTexts = std::tuple<OnStack, OnStack>;

TrainTestTexts train_test_tables(const std::pair<WordSequences, WordSequences>& train_and_test) {
  push_sequences(current(), train_and_test.first);
  push_sequences(current(), train_and_test.second);
  return {};
}

TrainTestTexts imdb(const std::string& path, std::optional<int64_t> num_words, int64_t skip_top,
                    std::optional<int64_t> maxlen, int64_t seed, Value start_char, Value oov_char,
                    int64_t index_from) {
  return train_test_tables(load_imdb(
      path, seed,
      {num_words, skip_top, maxlen, word_number(start_char), word_number(oov_char), index_from}));
}

TrainTestTexts reuters(const std::string& path, std::optional<int64_t> num_words, int64_t skip_top,
                       std::optional<int64_t> maxlen, double test_split, int64_t seed,
                       Value start_char, Value oov_char, int64_t index_from) {
  return train_test_tables(load_reuters(
      path, test_split, seed,
      {num_words, skip_top, maxlen, word_number(start_char), word_number(oov_char), index_from}));
}

constexpr const char* kLoadDataDoc =
    "Loads the data as two tables: {x, y} for training and {x, y} for testing.";

template <class F>
std::vector<CallablePtr> loader_functions(F load, Parameters parameters) {
  std::vector<CallablePtr> callables;
  callables.push_back(bound("load_data -> two tables", load, std::move(parameters), kLoadDataDoc));
  return callables;
}

}  // namespace

const std::vector<KnownDataset>& known_datasets() {
  static const std::vector<KnownDataset> callables = [] {
    std::vector<KnownDataset> datasets;
    const auto add = [&](const char* name, std::vector<CallablePtr> functions) {
      datasets.push_back({name, std::move(functions)});
    };
    add("mnist", loader_functions(&mnist, {"path=mnist.npz"}));
    add("fashion_mnist", loader_functions(&fashion_mnist, {}));
    add("cifar10", loader_functions(&cifar10, {}));
    add("cifar100", loader_functions(&cifar100, {"label_mode=fine"}));
    add("boston_housing", loader_functions(&boston_housing, {"path=boston_housing.npz",
                                                             "test_split=0.2", "seed=113"}));
    add("california_housing",
        loader_functions(&california_housing, {"version=large", "path=california_housing.npz",
                                               "test_split=0.2", "seed=113"}));
    std::vector<CallablePtr> imdb_functions = loader_functions(
        &imdb, {"path=imdb.npz", "num_words=nil", "skip_top=0", "maxlen=nil", "seed=113",
                "start_char: an integer=1", "oov_char: an integer=2", "index_from=3"});
    imdb_functions.push_back(bound("get_word_index -> a table with names", &imdb_word_index,
                                   {"path=imdb_word_index.json"}, "The number of each word."));
    add("imdb", std::move(imdb_functions));
    std::vector<CallablePtr> reuters_functions =
        loader_functions(&reuters, {"path=reuters.npz", "num_words=nil", "skip_top=0", "maxlen=nil",
                                    "test_split=0.2", "seed=113", "start_char: an integer=1",
                                    "oov_char: an integer=2", "index_from=3"});
    reuters_functions.push_back(bound("get_word_index -> a table with names", &reuters_word_index,
                                      {"path=reuters_word_index.json"},
                                      "The number of each word."));
    reuters_functions.push_back(
        bound("get_label_names", &reuters_label_names, {}, "The names of the classes."));
    add("reuters", std::move(reuters_functions));
    return datasets;
  }();
  return callables;
}

}  // namespace crescent::lua
