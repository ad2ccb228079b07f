// Names may contain control sequences for terminals, which the program must never print.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

/// A name with ESC, CR, BEL, NUL, DEL, a Unicode control character, invalid UTF-8, and letters that
/// must be kept.
const char* const kName = R"("e\27[31m\r\a\0\127\xc2\x9bx\xff\xe2\x80\xaeGew\xc3\xa4sser")";
const std::string kLetters = "Gew\xc3\xa4sser";

/// The output of the program, including errors, for this Lua code, which runs after `name` was set.
std::string output_of(const std::string& code) {
  char path[] = "/tmp/crescent-terminal-XXXXXX";
  close(mkstemp(path));
  std::ofstream(path) << "local name = " << kName << "\n" << code << "\n";
  const std::string command = std::string(CRESCENT_PROGRAM) + " -e 'dofile [[" + path + "]]' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  pclose(pipe);
  std::remove(path);
  return text;
}

/// The number of characters that are not printable, except line feeds and tabs; bytes of invalid
/// UTF-8 count too.
size_t control_count(const std::string& text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]),
               next = static_cast<unsigned char>(text[i + 1]);
    const bool is_control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    const bool is_unicode_control =
        (c == 0xc2 && next < 0xa0) ||
        (c == 0xe2 && next == 0x80 && text.compare(i, 3, "\xe2\x80\xae") == 0);
    count += is_control || is_unicode_control || c == 0xff;
  }
  return count;
}

struct OutputCase {
  const char* what;
  const char* code;
};

}  // namespace

TEST_CASE("names reach the terminal without what it would obey", "[L07]") {
  const OutputCase output_cases[] = {
      {"an error of a layer", "cr.layers.Dense{2, name = name}(cr.zeros{2})"},
      {"an error of Lua", "error(name)"},
      {"an error object", "error(setmetatable({}, { __tostring = function() return name end }))"},
      {"an error that is caught and printed",
       "print(select(2, pcall(cr.layers.Dense{2, name = name}, cr.zeros{2})))"},
      {"an unknown option", "cr.layers.Dense{2, [name] = 1}"},
      {"an unknown class", "local _ = cr.layers[name]"},
      {"a file", "cr.models.load_model(name)"},
      {"a warning",
       "cr.layers.Flatten{name = name}; local m = cr.Sequential{cr.layers.Embedding(4, 2, "
       "{mask_zero = true, input_shape = {3}}), "
       "cr.layers.Flatten{name = name}}; m:predict(cr.zeros({1, 3}, 'int32'))"},
      {"a summary",
       "cr.Sequential({cr.layers.Dense(2, {name = name, input_shape = {3}})}, {name = "
       "name}):summary()"},
      {"a profile",
       "local m = cr.Sequential({cr.layers.Dense(2, {name = name, input_shape = {3}})}, {name = "
       "name}); "
       "m:profile(cr.zeros{4, 3}); m:profile(cr.zeros{4, 3}, {by = 'instruction'})"},
      {"the progress bar",
       "local m = cr.Sequential{cr.layers.Dense(2, {input_shape = {3}})}; local mae = "
       "cr.metrics.MeanAbsoluteError{name = name}; "
       "m:compile{optimizer = 'sgd', loss = 'mse', metrics = {mae}}; m:fit(cr.zeros{4, 3}, "
       "cr.zeros{4, 2})"},
      {"a layer", "print(cr.layers.Dense{2, name = name})"},
      {"a symbol and a node",
       "local x = cr.Input{shape = {3}, name = name}; print(x, cr.layers.Dense{2, name = "
       "name}(x).node)"},
      {"a variable",
       "local d = cr.layers.Dense{2, name = name}; d(cr.zeros{1, 3}); print(d.weights[1])"},
      {"a class of Lua",
       "local C = cr.Layer:subclass('C'); print(C); print(cr.Input{shape = {3}, name = name})"},
      {"help", "cr.help{[name] = 1}; print(cr.layers.Dense{2, name = name})"}};
  for (const OutputCase& output_case : output_cases) {
    const std::string text = output_of(output_case.code);
    INFO(output_case.what << ":\n" << text);
    CHECK(control_count(text) == 0);
    CHECK(text.find(kLetters) != std::string::npos);
    CHECK(text.find("\\x1b[31m") != std::string::npos);
  }
}
