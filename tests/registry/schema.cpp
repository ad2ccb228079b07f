#include "crescent/registry/schema.h"

#include <catch2/catch.hpp>

using namespace crescent;

namespace {

struct SampleLayer {
  std::string name;
  int64_t units = 0;
  double rate = 0.001;
  bool use_bias = true;
  std::string padding = "valid";
  std::vector<int64_t> kernel{1};
  std::optional<int64_t> seed;
  Value anything = "auto";
  Dict extra;

  static void describe(Schema<SampleLayer>& s) {
    s.doc("A thing with options.")
        .keyword_only(true)
        .field("name", &SampleLayer::name, "")
        .keyword_only(false);
    s.field("units", &SampleLayer::units, "Width.")
        .required()
        .min(1)
        .field("rate", &SampleLayer::rate, "")
        .min(0)
        .max(1)
        .alias("lr");
    s.field("use_bias", &SampleLayer::use_bias, "")
        .field("padding", &SampleLayer::padding, "")
        .choices({"valid", "same"});
    s.field("kernel", &SampleLayer::kernel, "")
        .min(1)
        .field("seed", &SampleLayer::seed, "")
        .omit_null();
    s.field("anything", &SampleLayer::anything, "")
        .not_stored()
        .field("extra", &SampleLayer::extra, "");
  }
};

const SchemaData& schema() { return schema_of<SampleLayer>("Dense"); }

SampleLayer configured(const Dict& options) {
  SampleLayer object;
  schema().configure(&object, options);
  return object;
}

std::string error_message(const Dict& options) {
  try {
    configured(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("Options set the members, aliases too") {
  const SampleLayer object = configured({{"units", 3.0},
                                         {"lr", 1},
                                         {"kernel", 5},
                                         {"seed", 7},
                                         {"use_bias", false},
                                         {"extra", List{}}});
  CHECK(object.units == 3);
  CHECK(object.rate == 1.0);
  CHECK(object.kernel == std::vector<int64_t>{5});
  CHECK(object.seed == 7);
  CHECK_FALSE(object.use_bias);
  CHECK(configured({{"units", 1}, {"kernel", List{3, 4}}, {"seed", nullptr}}).kernel ==
        std::vector<int64_t>{3, 4});
}

TEST_CASE("A wrong option is named, with what was expected and what came") {
  const std::pair<Dict, const char*> rows[] = {
      {{{"unit", 3}}, "Dense: no option 'unit' (did you mean 'units'?)"},
      {{{"momentum", 3}},
       "Dense: no option 'momentum'; it takes units, rate, use_bias, padding, kernel, seed, "
       "anything, extra"},
      {{}, "Dense: missing required option 'units'"},
      {{{"units", "ten"}}, "Dense: option 'units': expected an integer, got \"ten\""},
      {{{"units", 2.5}}, "Dense: option 'units': expected an integer, got 2.5"},
      {{{"units", true}}, "Dense: option 'units': expected an integer, got true"},
      {{{"units", nullptr}}, "Dense: option 'units': expected an integer, got null"},
      {{{"units", 0}}, "Dense: option 'units' must be at least 1, got 0"},
      {{{"units", -9.0}}, "Dense: option 'units' must be at least 1, got -9.0"},
      {{{"units", 1}, {"rate", 1.5}}, "Dense: option 'rate' must be between 0 and 1, got 1.5"},
      {{{"units", 1}, {"rate", std::stod("nan")}},
       "Dense: option 'rate' must be between 0 and 1, got NaN"},
      {{{"units", 1}, {"rate", "x"}}, "Dense: option 'rate': expected a number, got \"x\""},
      {{{"units", 1}, {"lr", 0.5}, {"rate", 0.5}},
       "Dense: option 'rate' is given twice, once as 'rate'"},
      {{{"units", 1}, {"use_bias", "yes"}},
       "Dense: option 'use_bias': expected a boolean, got \"yes\""},
      {{{"units", 1}, {"padding", "sam"}},
       "Dense: option 'padding' must be one of 'valid', 'same', got 'sam' (did you mean 'same'?)"},
      {{{"units", 1}, {"padding", 3}}, "Dense: option 'padding': expected a string, got 3"},
      {{{"units", 1}, {"kernel", List{3, 0}}}, "Dense: option 'kernel' must be at least 1, got 0"},
      {{{"units", 1}, {"kernel", "3x3"}},
       "Dense: option 'kernel': expected an integer, got \"3x3\""},
      {{{"units", 1}, {"kernel", Dict{}}},
       "Dense: option 'kernel': expected an integer or a list of integers, got {}"},
      {{{"units", 1}, {"extra", List{1}}}, "Dense: option 'extra': expected a dictionary, got [1]"},
  };
  for (const auto& [options, message] : rows) CHECK(error_message(options) == message);
}

TEST_CASE("Stored options are read in order") {
  CHECK(to_json(schema().read(std::make_unique<SampleLayer>(configured({{"units", 2}})).get())) ==
        R"({"name": "", "units": 2, "rate": 0.001, "use_bias": true, )"
        R"("padding": "valid", "kernel": [1], "extra": {}})");
  SampleLayer seeded_layer = configured({{"units", 2}, {"seed", 4}});
  CHECK(schema().read(&seeded_layer).at("seed") == Value(4));
}

TEST_CASE("Defaults and types are known without an object") {
  CHECK(schema().find("rate")->default_value == Value(0.001));
  CHECK(schema().find("lr") == schema().find("rate"));
  CHECK(schema().find("units")->default_value.is_null());
  CHECK(schema().find("seed")->type == "an integer or null");
  CHECK(schema().find("nope") == nullptr);
  CHECK(schema().description == "A thing with options.");
}

TEST_CASE("Options by position come in the order of fields") {
  CHECK(schema().by_name({3, 0.5}, {{"padding", "same"}}) ==
        Dict{{"units", 3}, {"rate", 0.5}, {"padding", "same"}});
  CHECK_THROWS_WITH(schema().by_name({3, 0.5}, {{"lr", 0.1}}),
                    "Dense: option 'lr' is given twice, by position and by name");
  CHECK_THROWS_WITH(schema().by_name(List(9, Value(1)), {}),
                    Catch::Contains("expected at most 8 options by position (units, rate"));
}

TEST_CASE("One option can be set later, with the same checks, and a refusal leaves the old value") {
  SampleLayer object = configured({{"units", 2}});
  CHECK_THROWS_WITH(schema().set(&object, *schema().find("rate"), -1),
                    Catch::Contains("must be between"));
  CHECK(object.rate == 0.001);
  schema().set(&object, *schema().find("rate"), 0.25);
  CHECK(object.rate == 0.25);
}
