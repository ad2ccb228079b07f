// Checks that the table of cases has a row for every function of ops.h and every op of op_types.h.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "crescent/program/gradient.h"
#include "ops/cases.h"

namespace crescent::test {
namespace {

std::string text_of(const std::string& header) {
  const char* source = std::getenv("CRESCENT_SOURCE");
  INFO("CRESCENT_SOURCE must name the checkout, whose headers are read");
  REQUIRE(source);
  std::ifstream in(std::string(source) + "/core/include/crescent/" + header);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::set<std::string> names_in(const std::string& text, const char* pattern) {
  std::set<std::string> names;
  const std::regex expression(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

void collect(const Program& program, std::set<std::string>& names) {
  for (const Program::Instruction& i : program.code) {
    names.insert(std::string(i.op->name()));
    if (auto* scan = dynamic_cast<const Scan*>(i.op.get())) collect(*scan->body, names);
  }
}

/// Adds the names of the ops that the case and its gradient record.
void record(const Case& c, std::set<std::string>& names) {
  TensorSpecs specs;
  for (const Tensor& x : draw(c, DType::float32)) specs.push_back(x.spec());
  collect(trace(
              [&](const Tensors& inputs) {
                GradientTape tape;
                for (const Tensor& x : inputs) {
                  if (is_floating(x.dtype())) tape.watch(x);
                }
                Tensors all = c.run(inputs);
                for (const Tensor& y : Tensors(all)) {
                  if (!is_floating(y.dtype())) continue;
                  for (const Tensor& g : tape.gradient(y, inputs)) {
                    if (g) all.push_back(g);
                  }
                }
                return all;
              },
              specs),
          names);
}

}  // namespace

TEST_CASE("every function of ops.h has a case", "[.checkout]") {
  std::set<std::string> case_names;
  for (const Case& c : all_cases()) case_names.insert(c.name.substr(0, c.name.find(' ')));
  const std::string header = text_of("ops/ops.h");
  std::set<std::string> functions =
      names_in(text_of("program/elementwise_ops.h"), "ROW\\((\\w\\w+), \\w+\\)");
  functions.merge(names_in(header, "CRESCENT_API (?!DType)\\w+ (\\w\\w+)\\(const"));
  functions.merge(names_in(header, "CRESCENT_API \\w+ (\\w+)\\(std"));
  REQUIRE(functions.size() > 80);
  for (const std::string& name : functions) {
    INFO(name);
    CHECK(case_names.count(name) == 1);
  }
}

TEST_CASE("every op is recorded by a case or its gradient", "[.checkout]") {
  std::set<std::string> recorded_names;
  for (const Case& c : all_cases()) record(c, recorded_names);
  for (const std::string& name :
       names_in(text_of("program/op_types.h"), "CRESCENT_OP\\(\\w+, \"(\\w+)\"\\)")) {
    // These ops occur only in decompositions, or have no inputs and are computed while tracing.
    if (name == "batch_moments" || name == "fill" || name == "iota") continue;
    INFO(name);
    CHECK(recorded_names.count(name) == 1);
  }
}

}  // namespace crescent::test
