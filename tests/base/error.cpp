#include "crescent/base/error.h"

#include <catch2/catch.hpp>
#include <limits>
#include <new>
#include <stdexcept>

#include "base/text.h"

using namespace crescent;

namespace {

std::string last_warning;
void remember_warning(std::string_view text) { last_warning = text; }

}  // namespace

TEST_CASE("fail raises the pieces as one text") {
  CHECK_THROWS_WITH(fail("expected ", 3, " or ", 0.5, ", got ", 'x', std::string("!")),
                    "expected 3 or 0.5, got x!");
  CHECK_THROWS_AS(fail("stop"), Error);
}

TEST_CASE("Numbers are written as Python writes them, whole ones without fraction") {
  const std::pair<double, const char*> rows[] = {
      {0.0, "0"},
      {-0.0, "-0"},
      {3.0, "3"},
      {0.1, "0.1"},
      {0.001, "0.001"},
      {0.0001, "0.0001"},
      {0.00001, "1e-05"},
      {1e-7, "1e-07"},
      {1.5e-10, "1.5e-10"},
      {123456.0, "123456"},
      {1e15, "1000000000000000"},
      {1e16, "1e+16"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {5e-324, "5e-324"},
      {1.0 / 3, "0.3333333333333333"},
      {-2.5, "-2.5"},
      {std::numeric_limits<double>::infinity(), "inf"},
      {-std::numeric_limits<double>::infinity(), "-inf"}};
  for (const auto& [number, text] : rows) CHECK(to_text(number) == text);
  CHECK(to_text(std::numeric_limits<double>::quiet_NaN()) == "nan");
}

TEST_CASE("The nearest word is suggested, and none when all are far") {
  const std::vector<std::string> words = {
      "units", "activation", "use_bias", "kernel_initializer", "adam",   "adamw", "Adam",
      "ReLU",  "relu",       "Dense",    "compute_loss",       "compile"};
  const std::pair<const char*, const char*> rows[] = {{"unit", "units"},
                                                      {"rleu", "relu"},
                                                      {"adm", "adam"},
                                                      {"dense", "Dense"},
                                                      {"Dens", "Dense"},
                                                      {"UNITS", "units"},
                                                      {"kernelinitializer", "kernel_initializer"},
                                                      {"usebias", "use_bias"},
                                                      {"kernel", "kernel_initializer"},
                                                      {"comp", "compile"},
                                                      {"activaton", "activation"}};
  for (const auto& [word, suggestion] : rows)
    CHECK(did_you_mean(word, words) == concat(" (did you mean '", suggestion, "'?)"));
  for (const char* word : {"", "x", "zzz", "momentum", "q"}) CHECK(did_you_mean(word, words) == "");
  CHECK(did_you_mean(std::string(1000000, 'a'), words) == "");
  CHECK(did_you_mean("units", {}) == "");
}

TEST_CASE("Words are joined") {
  CHECK(join({}) == "");
  CHECK(join(std::vector<std::string>{"a"}) == "a");
  CHECK(join(std::vector<std::string>{"a", "b", "c"}) == "a, b, c");
  CHECK(join(std::vector<std::string>{"a", "b"}, " < ") == "a < b");
}

TEST_CASE("Warnings go to the handler that is set") {
  set_warning_handler(remember_warning);
  warn("layer ", 3, " has no mask");
  set_warning_handler(nullptr);
  CHECK(last_warning == "layer 3 has no mask");
}

TEST_CASE("An error takes on what was being done and stays what it is") {
  auto throw_with_context = [] {
    try {
      throw Interrupted("stopped");
    } catch (Error& error) {
      error.add_context("epoch 3: ");
      throw;
    }
  };
  CHECK_THROWS_AS(throw_with_context(), Interrupted);
  CHECK_THROWS_WITH(throw_with_context(), "epoch 3: stopped");
}

TEST_CASE("An error says which layer its message names") {
  auto layer_of = [](auto f) {
    try {
      f();
    } catch (const Error& error) {
      return error.layer();
    }
    return std::string("no error");
  };
  CHECK(layer_of([] { fail("nothing of a layer"); }) == "");
  CHECK(layer_of([] { fail_in_layer("e", "Layer ", "e", " is full"); }) == "e");
  CHECK_THROWS_WITH(fail_in_layer("e", "Layer ", "e", " is full"), "Layer e is full");
}

TEST_CASE("Whatever was thrown has a text") {
  auto text_of_exception = [](auto f) {
    try {
      f();
    } catch (...) {
      return exception_text();
    }
    return std::string();
  };
  CHECK(text_of_exception([] { fail("as it is"); }) == "as it is");
  CHECK(text_of_exception([] { throw std::out_of_range("place 7"); }) ==
        "std::out_of_range: place 7");
  CHECK(text_of_exception([] { throw std::bad_alloc(); }) == "not enough memory");
  CHECK(text_of_exception([] { throw 42; }) == "an exception of type int");
  CHECK(text_of_exception([] { throw "text"; }) == "an exception of type char const*");
}

TEST_CASE("What a terminal would obey is written out, what it shows stays") {
  const std::pair<std::string_view, const char*> rows[] = {
      {"plain", "plain"},
      {"two\nlines\tand a tab", "two\nlines\tand a tab"},
      {"\x1b[31mred\r\a\b\x7f", "\\x1b[31mred\\x0d\\x07\\x08\\x7f"},
      {std::string_view("nul\0l", 5), "nul\\x00l"},
      {"\xc2\x9b"
       "31m, \xc2\x85",
       "\\u009b31m, \\u0085"},
      {"\x9b"
       "31m, \xff, \xc3",
       "\\x9b31m, \\xff, \\xc3"},
      {"\xe2\x80\xae"
       "desrever",
       "\\u202edesrever"},
      {"Gew\xc3\xa4sser \xe5\xb1\x82 \xf0\x9f\x8c\x99",
       "Gew\xc3\xa4sser \xe5\xb1\x82 \xf0\x9f\x8c\x99"}};
  for (const auto& [text, printable_text] : rows) {
    CHECK(printable(text) == printable_text);
    CHECK(printable(printable(text)) == printable_text);
  }
  CHECK_THROWS_WITH(fail("layer '", "\x1b[2J", "'"), "layer '\\x1b[2J'");
}

TEST_CASE("Class names in snake case are those of Keras") {
  const std::pair<const char*, const char*> rows[] = {
      {"Dense", "dense"},
      {"Conv2D", "conv2d"},
      {"Conv2DTranspose", "conv2d_transpose"},
      {"MaxPooling2D", "max_pooling2d"},
      {"LSTM", "lstm"},
      {"GRU", "gru"},
      {"ReLU", "re_lu"},
      {"LeakyReLU", "leaky_re_lu"},
      {"SimpleRNN", "simple_rnn"},
      {"BatchNormalization", "batch_normalization"},
      {"L1L2", "l1_l2"},
      {"MeanSquaredError", "mean_squared_error"},
      {"ELU", "elu"},
      {"PReLU", "p_re_lu"},
      {"GlobalAveragePooling1D", "global_average_pooling1d"},
      {"RMSprop", "rm_sprop"},
      {"my_layer", "my_layer"},
      {"", ""},
      {"AUC", "auc"},
      {"TimeDistributed", "time_distributed"}};
  for (const auto& [name, snake] : rows) CHECK(snake_case(name) == snake);
}

TEST_CASE("UTF-8 is distinguished from other bytes") {
  CHECK(utf8_length("a") == 1);
  CHECK(utf8_length("\xC3\xA4") == 2);
  CHECK(utf8_length("\xE2\x82\xAC") == 3);
  CHECK(utf8_length("\xF0\x9F\x8C\x99") == 4);
  for (const char* invalid_bytes : {"", "\x80", "\xC3", "\xC0\x80", "\xE2\x82", "\xED\xA0\x80",
                                    "\xE0\x80\x80", "\xF5\x80\x80\x80", "\xF0\x80\x80\x80", "\xFF"})
    CHECK(utf8_length(invalid_bytes) == 0);
}
