// What check_plugin finds in plugins that are wrong.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "crescent/model/check.h"
#include "support.h"

using namespace crescent;
using namespace crescent::plugin_tests;
using Catch::Contains;
using Catch::StartsWith;

namespace {

/// The reports on the classes of a plugin, which is checked once.
const std::vector<CheckReport>& reports_of(const std::string& plugin) {
  static std::map<std::string, std::vector<CheckReport>> reports_by_plugin;
  if (!reports_by_plugin.contains(plugin))
    reports_by_plugin[plugin] = check_plugin(library(plugin.c_str()));
  return reports_by_plugin.at(plugin);
}

CheckReport report_of(const std::string& subject, const std::string& plugin = "rough") {
  for (const CheckReport& report : reports_of(plugin))
    if (report.subject == subject) return report;
  FAIL("no report of " << subject);
  return {};
}

/// The checks that failed, and why.
std::string failures_of(const std::string& subject, const std::string& plugin) {
  std::string text;
  for (const CheckResult& result : report_of(subject, plugin).results)
    if (result.outcome == CheckOutcome::failed) text += result.name + ": " + result.text + "\n";
  return text;
}

}  // namespace

TEST_CASE("check_plugin compares what an operation computes in float32 with float64") {
  const CheckReport report = report_of("rough_same (operation)");
  INFO(report.text());
  CHECK(!report.ok());
  CHECK_THAT(report.text(), Contains("FAILED  float32") && Contains("float32 beside float64"));
}

TEST_CASE("check_plugin finds a gradient of a function of one triangle that is wrong by 1 %") {
  const CheckReport report = report_of("off_root (operation)");
  INFO(report.text());
  CHECK_THAT(report.text(), Contains("FAILED  gradient by input 1"));
}

TEST_CASE("check_plugin runs kernels in watched memory, beside the op without them") {
  const auto text = [](const std::string& subject) { return report_of(subject).text(); };
  CHECK_THAT(text("rough.exact (cpu_kernel)"), Contains("ok      results") &&
                                                   Contains("ok      repeatable") &&
                                                   Contains("float32(3, 4)"));
  CHECK_THAT(text("rough.percent (cpu_kernel)"),
             Contains("FAILED  results") && Contains("beside the op without the kernel"));
  CHECK_THAT(text("rough.beyond (cpu_kernel)"), Contains("it wrote beyond an output"));
  CHECK_THAT(text("rough.sums (cpu_kernel)"),
             Contains("FAILED  repeatable") && Contains("in memory that held other bytes before"));
  CHECK_THAT(text("rough.order (cpu_kernel)"), Contains("with the parts in the reverse order"));
  CHECK_THAT(text("rough.place (cpu_kernel)"), Contains("in the memory of input 1"));
  CHECK_THAT(text("rough.nowai (cpu_kernel)"), Contains("skipped within its memory"));
}

TEST_CASE(
    "check_plugin finds kernels that are wrong in late rows and columns, or far beyond their end") {
  const auto text = [](const std::string& subject) { return report_of(subject).text(); };
  CHECK_THAT(text("rough.rows (cpu_kernel)"),
             Contains("FAILED  results") && Contains("of float32(17, 33)"));
  CHECK_THAT(text("rough.columns (cpu_kernel)"),
             Contains("FAILED  results") && Contains("of float32(17, 33)"));
  CHECK_THAT(text("rough.far (cpu_kernel)"), Contains("it wrote beyond an output"));
  CHECK_THAT(text("twice_far (operation)"),
             Contains("skipped") && Contains("its kernel rough.far uses memory beyond its own"));
  CHECK_THAT(text("rough.reads (cpu_kernel)"),
             Contains("FAILED  within its memory") &&
                 Contains("ended with SIGSEGV (Segmentation fault) in memory that ends before a "
                          "page that cannot be accessed"));
  CHECK_THAT(text("twice_rows (operation)"),
             Contains("FAILED  larger sizes") && Contains("float32 beside float64"));
}

TEST_CASE("check_plugin finds layers that depend on the other samples of a batch, or on how many") {
  CHECK_THAT(failures_of("Centered of plugin 'mixing'", "mixing"),
             StartsWith("samples apart: samples 1 to 3 of 257, beside the same samples alone"));
  CHECK_THAT(failures_of("Grown of plugin 'mixing'", "mixing"),
             Contains("samples apart: weight 'grown") &&
                 Contains("has shape (1,) if the layer is built for 3 samples, (2,) for 257"));
}

TEST_CASE("check_plugin finds losses that mix samples, or grow with their number") {
  CHECK_THAT(failures_of("Shares (loss)", "mixing"),
             StartsWith("samples apart: samples 1 to 3 of 257, beside the same samples alone"));
  CHECK_THAT(failures_of("Summed (loss)", "mixing"),
             StartsWith("reduction: a batch that has each sample twice"));
}

TEST_CASE("check_plugin finds a metric that reset_state does not reset") {
  CHECK_THAT(failures_of("Remembers (metric)", "mixing"),
             StartsWith("reset: variable 'sum' after reset_state, beside a new metric"));
}

TEST_CASE("check_plugin finds optimizers that do not go down, or do not heed the learning rate") {
  CHECK_THAT(failures_of("Ascends (optimizer)", "mixing"),
             StartsWith("descent: 20 steps on half the squared distance from a target changed that "
                        "of float32(3,), row 1,"));
  CHECK_THAT(failures_of("Deaf (optimizer)", "mixing"),
             StartsWith("learning rate: three steps on float32(3,) give the same with twice"));
  CHECK_THAT(failures_of("FirstRows (optimizer)", "mixing"),
             StartsWith("descent: ") && Contains("of float32(17, 33), row 9,"));
}

TEST_CASE("check_layer lets a layer that carries its state to the next batch begin anew") {
  const CheckReport report = check_layer("SimpleRNN", {{"units", 2}, {"stateful", true}},
                                         {.shapes = {{5, 4}}, .dtypes = {}, .batch_size = 3});
  INFO(report.text());
  CHECK(report.ok());
  for (const char* file : {".keras file", ".h5 file", ".weights.h5 file"})
    CHECK_THAT(report.text(), Contains(std::string("ok      ") + file));
}

TEST_CASE("check_plugin draws values for required options") {
  const CheckReport layer = report_of(
      R"(Stretched of plugin 'narrow' with {"times": 4, "share": 0.25, "sense": "up"})", "narrow");
  INFO(layer.text());
  CHECK(layer.ok());
  CHECK(layer.results.size() > 20);
  CHECK_THAT(report_of("Between (schedule)", "narrow").text(), Contains("it requires ends"));
  const auto reports = check_plugin("core", {{"Dense", Dict{{"shapes", List{3}}}}});
  CHECK(reports.front().subject == R"(Dense of plugin 'core' with {"units": 4})");
  CHECK(reports.front().ok());
}

TEST_CASE("check_plugin draws layers and cells, and inputs that a layer takes for a batch") {
  const auto expect_checked = [](const char* plugin, std::initializer_list<const char*> subjects) {
    const std::vector<CheckReport> reports = check_plugin(plugin);
    for (const std::string subject : subjects)
      CHECK(std::any_of(reports.begin(), reports.end(), [&](const CheckReport& report) {
        return report.subject.starts_with(subject) && report.ok() && report.results.size() > 20;
      }));
  };
  expect_checked("wrappers",
                 {R"(TimeDistributed of plugin 'wrappers' with {"layer": {"class_name": "Dense")",
                  R"(Bidirectional of plugin 'wrappers' with {"layer": {"class_name": "SimpleRNN")",
                  "SpectralNormalization"});
  expect_checked("recurrent", {"LSTMCell", "ConvLSTM3D", "StackedRNNCells",
                               R"(RNN of plugin 'recurrent' with {"cell": {"class_name": "Si)"});
}

TEST_CASE("check_plugin tries layers without shapes with the dtypes and the range that are given") {
  const Dict embedding_options{{"options", Dict{{"input_dim", 3}, {"output_dim", 2}}},
                               {"dtypes", List{"int32"}},
                               {"low", 0},
                               {"high", 3},
                               {"batch_size", 7}};
  for (const CheckReport& report : check_plugin("core", {{"Embedding", embedding_options}})) {
    if (!report.subject.starts_with("Embedding")) continue;
    INFO(report.text());
    CHECK(report.ok());
    CHECK(report.results.front().text == "int32(7, 6) gives float32(7, 6, 2)");
  }
}

TEST_CASE("check_plugin compares results of a million elements") {
  CHECK_THAT(failures_of("products (operation)", "narrow"),
             StartsWith("larger sizes: of float32(17, 33), float32(17, 33), float32 beside"));
}

TEST_CASE("check_plugin passes a format of several arrays") {
  const CheckReport report = check_plugin("safetensors").front();
  INFO(report.text());
  CHECK(report.ok());
}

TEST_CASE("check_plugin finds a format that changes the dtype of an array") {
  CHECK(failures_of("narrow (format)", "narrow") ==
        "other arrays: the array 'of_float64', float64(4, 3), is read as float32(4, 3) or with "
        "other elements\n");
}

TEST_CASE("check_plugin passes a model whose layers are built by its first call") {
  const CheckReport report = report_of("Tower of plugin 'rough'");
  INFO(report.text());
  CHECK(report.ok());
}

TEST_CASE("check_plugin finds a communicator that changes what one process has") {
  const CheckReport report = report_of("Doubling (communicator)");
  INFO(report.text());
  CHECK_THAT(report.text(),
             Contains("all_reduce: the sum of 1 float32 over one process changed the values") &&
                 Contains("broadcast of 0 bytes wrote beyond its 0 bytes") &&
                 Contains("FAILED  training"));
}
