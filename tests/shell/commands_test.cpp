// The output of the program for its command lines.
#include <fstream>

#include "crescent/base/value.h"
#include "run_crescent.h"

namespace {

using Catch::Contains;
using Catch::StartsWith;

const char* const kCommands[] = {"info",         "plugins", "describe", "new-plugin",
                                 "check-plugin", "inspect", "convert",  "verify",
                                 "validate",     "replay",  "demo"};

TEST_CASE("--help of the program tells of every command and of the environment") {
  const Outcome help = run_crescent("--help");
  CHECK(help.status == 0);
  for (const char* command : kCommands)
    CHECK_THAT(help.text, Contains(std::string("crescent ") + command));
  for (const char* variable : {"CRESCENT_DEVICE", "CRESCENT_COMMUNICATOR", "CRESCENT_PLUGIN_PATH"})
    CHECK_THAT(help.text, Contains(variable));
  for (size_t begin = 0, end; (end = help.text.find('\n', begin)) != help.text.npos;
       begin = end + 1)
    CHECK(end - begin <= 100);
}

TEST_CASE("--help of a command tells its arguments") {
  for (const char* command : kCommands) {
    INFO(command);
    for (const char* option : {"--help", "-h"}) {
      const Outcome help = run_crescent(std::string(command) + " " + option);
      CHECK(help.status == 0);
      CHECK_THAT(help.text, StartsWith(std::string("usage: crescent ") + command));
    }
  }
}

TEST_CASE("--help of new-plugin and check-plugin tells what their options take") {
  const std::string help_text = run_crescent("new-plugin --help").text;
  for (const char* kind : {"layer", "op", "loss", "metric", "optimizer", "callback", "format",
                           "device", "communicator", "dataset", "lua", "lua-dataset"})
    CHECK_THAT(help_text, Contains(kind));
  CHECK_THAT(run_crescent("check-plugin --help").text, Contains("{\"Class\": {\"options\": {"));
}

TEST_CASE("what is called wrongly ends with status 2, what goes wrong with 1") {
  for (const char* wrong_arguments :
       {"--nope", "inspct m.h5", "convert", "convert a", "verify a b c", "validate --data",
        "inspect --jsn m.h5", "new-plugin", "describe --x", "info --jsn", "help nothing_here",
        "demo --slow"}) {
    INFO(wrong_arguments);
    CHECK(run_crescent(wrong_arguments).status == 2);
  }
  CHECK_THAT(run_crescent("check-plugin").text, Contains("expected 1 name, got 0; usage: "));
  CHECK_THAT(run_crescent("inspect").text, Contains("expected 1 file, got 0; usage: "));
  for (const char* failing_arguments :
       {"nothing_here.lua", "inspect nothing_here.h5", "describe nothing_here", "-e \"error 'no'\"",
        "-e ')'", "plugins nothing_here"}) {
    INFO(failing_arguments);
    CHECK(run_crescent(failing_arguments).status == 1);
  }
}

TEST_CASE("help as a word is --help") {
  CHECK(run_crescent("help").text == run_crescent("--help").text);
  CHECK(run_crescent("help inspect").text == run_crescent("inspect --help").text);
  CHECK_THAT(run_crescent("help inspct").text, Contains("(did you mean 'inspect'?)"));
}

TEST_CASE("info tells as JSON what it tells as text") {
  const crescent::Value info = crescent::parse_json(run_crescent("info --json").text);
  CHECK(info.as_dict().at("crescent").is_string());
  CHECK(info.as_dict().at("device_information").is_dict());
  CHECK(info.as_dict().at("plugins").as_list().size() > 5);
}

TEST_CASE("the kernels of OpenBLAS are those for the instruction sets of the processor") {
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx2")) return;
  const char* expected = __builtin_cpu_supports("avx512bw") ? "SkylakeX" : "Haswell";
  const std::string text = run_crescent("info --json", "OPENBLAS_CORETYPE=Prescott").text;
  const crescent::Value facts = crescent::parse_json(text);
  const crescent::Dict& device = facts.as_dict().at("device_information").as_dict();
  CHECK(device.at("blas").as_dict().at("core") == crescent::Value(expected));
#endif
}

TEST_CASE("a misspelt option or plugin is reported with what is right") {
  CHECK_THAT(run_crescent("describe --jsn").text, Contains("did you mean '--json'?"));
  CHECK_THAT(run_crescent("info --jsn").text,
             Contains("did you mean '--json'?") && Contains("crescent info [--json]"));
  CHECK_THAT(run_crescent("plugins cp").text,
             StartsWith("crescent: no plugin 'cp' (did you mean 'cpu'?)") &&
                 Contains("'crescent plugins' lists what there is"));
}

TEST_CASE("inspect tells the columns of a table") {
  const std::string path = std::string(CRESCENT_SOURCE_DIR) + "/examples/data/boston.csv";
  CHECK_THAT(run_crescent("inspect " + path).text,
             Contains("table, format csv") && Contains("float32 (506)"));
}

TEST_CASE("a wrong word for tracebacks is an error") {
  const Outcome outcome = run_crescent("-e 'print(1)'", "CRESCENT_TRACEBACK=bogus");
  CHECK(outcome.status == 1);
  CHECK(outcome.text == "crescent: CRESCENT_TRACEBACK can be 'full', not 'bogus'\n");
  CHECK(run_crescent("-e 'print(1)'", "CRESCENT_TRACEBACK=").text == "1\n");
}

TEST_CASE("the demo shows a tour without pauses, one mistake in it, and leaves nothing behind") {
  const Folder folder;
  const Outcome demo = run_crescent("demo --fast", "TMPDIR=" + (folder / ""));
  INFO(demo.text);
  CHECK(demo.status == 0);
  // only one error message begins a line; those that the help quotes are indented
  const std::string error_prefix = "\ncrescent: ";
  const size_t mistake_position = demo.text.find(error_prefix);
  REQUIRE(mistake_position != demo.text.npos);
  CHECK(demo.text.find(error_prefix, mistake_position + 1) == demo.text.npos);
  CHECK_THAT(demo.text.substr(mistake_position), Contains("(did you mean 'activation'?)"));
  const std::string expected_log = "{ accuracy = ";
  REQUIRE_THAT(demo.text, Contains(expected_log));
  CHECK(std::stod(demo.text.substr(demo.text.find(expected_log) + expected_log.size())) > 0.98);
  CHECK_THAT(demo.text, Contains("[1]> ") && Contains("That was the tour"));
  CHECK(folder.count() == 0);
}

/// The completions of bash for the last word of a command line, sorted, with a blank after each.
std::string completions_of(const std::string& line) {
  const std::string script = "source <(" CRESCENT_PROGRAM " completion); COMP_WORDS=(" + line +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _crescent " CRESCENT_PROGRAM
                             "; printf '%s\\n' \"${COMPREPLY[@]}\" | sort | tr '\\n' ' '";
  const std::string command = "bash -c \"$CRESCENT_SCRIPT\"";
  setenv("CRESCENT_SCRIPT", script.c_str(), 1);
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  CHECK(pclose(pipe) == 0);
  return text;
}

TEST_CASE("bash completes commands, their options, values of these, and files by their endings") {
  const Folder folder;
  const std::string folder_path = folder / "";
  for (const char* name : {"a.h5", "b.keras", "c.lua", "d.so", "e.txt"})
    std::ofstream(folder / name) << "x";
  std::filesystem::create_directory(folder / "f");
  CHECK(completions_of("crescent ver") == "verify ");
  CHECK(completions_of("crescent help insp") == "inspect ");
  CHECK(completions_of("crescent new-plugin --kind l") == "layer loss lua lua-dataset ");
  CHECK(completions_of("crescent new-plugin mine --kind opt") == "optimizer ");
  CHECK(completions_of("crescent convert a b --target ''") == "keras2 keras3 ");
  CHECK(completions_of("crescent validate --d") == "--data ");
  CHECK(completions_of("crescent --plugin x validate --b") == "--batch_size ");
  CHECK(completions_of("crescent --plugin layers_c") ==
        completions_of("crescent plugins layers_c"));
  CHECK(completions_of("crescent --plugin " + folder_path) ==
        folder_path + "c.lua " + folder_path + "d.so " + folder_path + "f ");
  CHECK(completions_of("crescent " + folder_path) == folder_path + "c.lua " + folder_path + "f ");
  CHECK(completions_of("crescent inspect " + folder_path) ==
        folder_path + "a.h5 " + folder_path + "b.keras " + folder_path + "f ");
  CHECK(completions_of("crescent validate a --data " + folder_path + "a") == folder_path + "a.h5 ");
  CHECK(completions_of("crescent manual " + folder_path) == folder_path + "f ");
  CHECK(completions_of("crescent script.lua " + folder_path + "e") == folder_path + "e.txt ");
  CHECK(completions_of("crescent -e " + folder_path) == " ");
}

TEST_CASE("-e prints what its text gives") {
  CHECK(run_crescent("-e '1+1'").text == "2\n");
  CHECK(run_crescent("-e 'x = 5; x'").text == "5\n");
  CHECK(run_crescent("-e 'x = 5; tostring(x)'").text.empty());
  CHECK(run_crescent("-e '{ 1, 2 }, 3'").text == "{ 1, 2 }\t3\n");
  CHECK(run_crescent("-e 'print(1)'").text == "1\n");
  CHECK(run_crescent("-e 'x = 1'").text.empty());
  const Outcome outcome = run_crescent("-e '1 + {}'");
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.text, StartsWith("crescent: (command line):1: ") && !Contains("return"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they replace the heap
TEST_CASE("the heap of the program is in a huge page") {
  if (!fs::exists("/sys/kernel/mm/transparent_hugepage/enabled")) {
    WARN("skipped: this kernel has no transparent huge pages");
    return;
  }
  // The flag hg in the kernel's description of a mapping says that huge pages are asked for.
  const Outcome flags = run_crescent(
      "-e \"local mapping, flags = '', {} for line in io.lines('/proc/self/smaps') do "
      "if line:find('^%x+%-%x+ ') then mapping = line elseif mapping:find('[heap]', 1, true) and "
      "line:find('^VmFlags') then flags[#flags + 1] = line end end "
      "print(table.concat(flags, ' '))\"");
  CHECK_THAT(flags.text, Contains(" hg "));
}

TEST_CASE("memory that was freed is used again without page faults") {
  // The eighth number after the name in parentheses is the count of page faults. Fifty strings of
  // 4 MiB have 51,200 pages.
  const Outcome faults = run_crescent(
      "-e \"local function faults() return tonumber(io.lines('/proc/self/stat')():match("
      "'%) %S+ ' .. ('%S+ '):rep(6) .. '(%d+)')) end local function allocate() "
      "string.rep('x', 1 << 22) collectgarbage() end allocate() local before = faults() "
      "for _ = 1, 50 do allocate() end print(faults() - before)\"");
  INFO(faults.text);
  CHECK(std::stoi(faults.text) < 5000);
}
#endif

TEST_CASE("a device or communicator that the environment names must be there at the start") {
  for (const char* arguments : {"-e 'print(1)'", "info", "describe sum"}) {
    INFO(arguments);
    const Outcome device = run_crescent(arguments, "CRESCENT_DEVICE=nope"),
                  communicator = run_crescent(arguments, "CRESCENT_COMMUNICATOR=nope");
    CHECK(device.status == 1);
    CHECK_THAT(device.text, StartsWith("crescent: CRESCENT_DEVICE: ") && Contains("'nope'"));
    CHECK(communicator.status == 1);
    CHECK_THAT(communicator.text, StartsWith("crescent: CRESCENT_COMMUNICATOR: "));
  }
  CHECK(run_crescent("-e 'print(1)'", "CRESCENT_DEVICE=").text == "1\n");
  CHECK(run_crescent("--help", "CRESCENT_DEVICE=nope").status == 0);
}

TEST_CASE("an output that cannot be written is an error") {
  for (const char* arguments : {"--help", "--version", "info", "plugins", "describe --json",
                                "-e 'print(1)'", "-e 'print(1) os.exit(0)'"}) {
    INFO(arguments);
    const Outcome outcome = run_crescent(std::string(arguments) + " 2>&1 >/dev/full )", "(");
    CHECK(outcome.status == 1);
    CHECK(outcome.text == "crescent: cannot write to standard output: No space left on device\n");
  }
}

}  // namespace
