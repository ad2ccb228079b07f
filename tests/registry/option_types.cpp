// Options with the types of option_types.h: setting, reading, and errors.
#include "crescent/registry/option_types.h"

#include <catch2/catch.hpp>
#include <map>

#include "crescent/layer/activation.h"
#include "crescent/registry/registry.h"
#include "crescent/registry/schema.h"

using namespace crescent;

namespace {

enum class Mode { sum, mean };
EnumNames<Mode> enum_names(Mode) { return {{"sum", Mode::sum}, {"mean", Mode::mean}}; }

struct TypedOptions {
  float rate = 0.1F;
  size_t count = 2;
  int16_t small = 0;
  Mode mode = Mode::mean;
  std::optional<Mode> other;
  std::vector<Mode> modes;
  std::pair<int64_t, std::string> pair{1, "a"};
  std::vector<std::pair<float, float>> ranges;
  std::map<std::string, double> factors{{"a", 0.5}};
  std::vector<float> rates;

  static void describe(Schema<TypedOptions>& s) {
    s.field("rate", &TypedOptions::rate, "")
        .field("count", &TypedOptions::count, "")
        .field("small", &TypedOptions::small, "")
        .field("mode", &TypedOptions::mode, "")
        .field("other", &TypedOptions::other, "")
        .field("modes", &TypedOptions::modes, "")
        .field("pair", &TypedOptions::pair, "")
        .field("ranges", &TypedOptions::ranges, "")
        .field("factors", &TypedOptions::factors, "")
        .field("rates", &TypedOptions::rates, "");
  }
};

TypedOptions typed(const Dict& options) {
  TypedOptions object;
  schema_of<TypedOptions>("Typed").configure(&object, options);
  return object;
}

std::string refusal(const Dict& options) {
  try {
    typed(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

struct OptionsWithActivation {
  Ref<Activation> activation = "relu";
  static void describe(Schema<OptionsWithActivation>& s) {
    s.field("activation", &OptionsWithActivation::activation, "");
  }
};

}  // namespace

TEST_CASE("Options are numbers of any size, enumerations, pairs, maps and lists of them") {
  const Dict options{{"rate", 0.3},
                     {"count", 7},
                     {"small", -5},
                     {"mode", "sum"},
                     {"other", "mean"},
                     {"modes", List{"sum", "mean"}},
                     {"pair", List{4, "b"}},
                     {"ranges", List{List{0.1, 2}, List{3, 4}}},
                     {"factors", Dict{{"x", 2}, {"y", 0.25}}},
                     {"rates", List{0.1, 0.2}}};
  const TypedOptions object = typed(options);
  CHECK(object.rate == 0.3F);
  CHECK(object.count == 7);
  CHECK(object.small == -5);
  CHECK(object.mode == Mode::sum);
  CHECK(object.other == Mode::mean);
  CHECK(object.modes == std::vector{Mode::sum, Mode::mean});
  CHECK(object.pair == std::pair<int64_t, std::string>(4, "b"));
  CHECK(object.ranges == std::vector<std::pair<float, float>>{{0.1F, 2}, {3, 4}});
  CHECK(object.factors == std::map<std::string, double>{{"x", 2}, {"y", 0.25}});
  CHECK(object.rates == std::vector{0.1F, 0.2F});
  const Dict read = schema_of<TypedOptions>("Typed").read(&object);
  CHECK(to_text(Value(read)) == to_text(Value(options)));
}

TEST_CASE("Options of these types have their members as defaults") {
  const TypedOptions object = typed({});
  const Dict read = schema_of<TypedOptions>("Typed").read(&object);
  CHECK(read.at("rate") == Value(0.1));
  CHECK(read.at("mode") == Value("mean"));
  CHECK(read.at("other").is_null());
  CHECK(typed({{"factors", List{}}}).factors.empty());
}

TEST_CASE("Values that do not fit these types are refused with what was expected") {
  using Catch::Matchers::Contains;
  CHECK_THAT(refusal({{"rate", 1e300}}), Contains("'rate': expected a number of 32 bits"));
  CHECK_THAT(refusal({{"count", -1}}), Contains("'count': expected at least 0, got -1"));
  CHECK_THAT(refusal({{"small", 40000}}), Contains("expected an integer of 16 bits, got 40000"));
  CHECK_THAT(refusal({{"mode", "men"}}), Contains("must be one of 'sum', 'mean', got 'men'"));
  CHECK_THAT(refusal({{"modes", List{"sum", "men"}}}), Contains("must be one of 'sum', 'mean'"));
  CHECK_THAT(refusal({{"pair", List{1}}}),
             Contains("expected a list of two, an integer and a string, got [1]"));
  CHECK_THAT(refusal({{"factors", Dict{{"x", "y"}}}}), Contains("'factors': "));
  CHECK_THAT(refusal({{"ranges", List{1, 2}}}), Contains("expected a list of two"));
}

TEST_CASE("False is no object where an option is one") {
  OptionsWithActivation object;
  schema_of<OptionsWithActivation>("Active").configure(&object, {{"activation", false}});
  CHECK_FALSE(object.activation);
}
