// Which changes of a header make a built plugin incompatible, and which do not.
#include "declarations.h"

#include <catch2/catch.hpp>

using crescent::stamp::declarations;

namespace {

const std::string kHeader = R"h(// A header.
#pragma once
#include <map>
#include <string>

#define ACME_LIMIT 3

namespace acme {

enum class Kind : int { first, second };
constexpr int kMaximum = 8;

/// A shape.
struct Shape : Base {
  explicit Shape(std::string name, int count = 1);
  virtual ~Shape();
  virtual double area(const Unit& unit, std::map<int, Unit> others = {}) const = 0;
  virtual int corners() const;
  template <class T>
  T as(T start) const { return start + count_; }
  int corners_twice() const { return 2 * corners(); }
  bool operator()(const Shape& other) const;

 protected:
  int count_ = 1;
  double size_[3];
};

double sum(const std::vector<Shape>& shapes, bool sorted, unsigned int = 0);
using Areas = std::map<std::string, double>;

}  // namespace acme
)h";

std::string header_with(const std::string& from, const std::string& to) {
  const size_t position = kHeader.find(from);
  REQUIRE(position != std::string::npos);
  return std::string(kHeader).replace(position, from.size(), to);
}

}  // namespace

TEST_CASE("each change of a declaration changes what is stamped", "[P13]") {
  const std::pair<const char*, const char*> changes[] = {
      {"  int count_ = 1;\n", "  int count_ = 1;\n  int more_;\n"},
      {"  int count_ = 1;\n  double size_[3];", "  double size_[3];\n  int count_ = 1;"},
      {"int count_ = 1;", "long count_ = 1;"},
      {"int count_ = 1;", "int count_ = 2;"},
      {"size_[3]", "size_[4]"},
      {"virtual int corners() const;", "virtual int corners() const;\n  virtual int edges();"},
      {"  virtual ~Shape();\n", ""},
      {"virtual int corners() const;", "virtual int corners();"},
      {"virtual int corners() const;", "int corners() const;"},
      {"const Unit& unit", "Unit unit"},
      {"std::map<int, Unit> others = {}", "std::map<int, Unit> others"},
      {"std::map<int, Unit>", "std::map<long, Unit>"},
      {"std::string name, int count = 1", "int count = 1, std::string name"},
      {"explicit Shape", "Shape"},
      {"int count = 1", "int count = 2"},
      {"first, second", "second, first"},
      {"Kind : int", "Kind : char"},
      {"kMaximum = 8", "kMaximum = 9"},
      {"ACME_LIMIT 3", "ACME_LIMIT 4"},
      {"struct Shape : Base", "struct Shape : Other"},
      {"start + count_", "start - count_"},
      {"2 * corners()", "3 * corners()"},
      {"bool sorted", "int sorted"},
      {"unsigned int = 0", "unsigned = 0"},
      {"unsigned int = 0", "unsigned long = 0"},
      {"const std::vector<Shape>& shapes", "std::vector<Shape>& shapes"},
      {"protected:", "public:"},
      {"std::string, double", "std::string, float"},
      {"#pragma once", "#pragma once\n#pragma pack(1)"},
      {"namespace acme {", "namespace acme::inner {"}};
  for (const auto& [from, to] : changes) {
    CAPTURE(from, to);
    CHECK(declarations(header_with(from, to)) != declarations(kHeader));
  }
}

TEST_CASE("comments, white space, includes and names of parameters are not stamped") {
  const std::pair<const char*, const char*> changes[] = {
      {"// A header.", "// The header, corrected."},
      {"/// A shape.\n", ""},
      {"virtual ~Shape();", "virtual ~Shape();  ///< ends; { it"},
      {"kMaximum = 8;", "kMaximum = /* at \"most */ 8;"},
      {"\n\nnamespace acme {", "\nnamespace acme\n{"},
      {"  int count_ = 1;", "      int   count_=1;  "},
      {"#include <map>\n#include <string>\n", "#include <string>\n#include <map>\n"},
      {"#include <map>\n", ""},
      {"std::string name, int count = 1", "std::string title, int number = 1"},
      {"const Unit& unit", "const Unit& measure"},
      {"const Unit& unit", "const Unit&"},
      {"others = {}", "rest = {}"},
      {"const std::vector<Shape>& shapes, bool sorted", "const std::vector<Shape>& all, bool"},
      {"const Shape& other", "const Shape& to"},
      {"#define ACME_LIMIT 3", "#define  ACME_LIMIT \\\n  3  // and no more"},
      {"};\n\ndouble", "}; double"}};
  for (const auto& [from, to] : changes) {
    CAPTURE(from, to);
    CHECK(declarations(header_with(from, to)) == declarations(kHeader));
  }
}

TEST_CASE("what looks like a comment or a brace in a text is neither") {
  CHECK(declarations("inline const char* f() { return \"// } {\"; } void g(int a);") ==
        declarations("inline const char* f() { return \"// } {\"; } void g(int b);"));
  CHECK(declarations("inline auto f() { return R\"x(a)\" /* )x\"; }") !=
        declarations("inline auto f() { return R\"x(a)\" */ )x\"; }"));
  CHECK(declarations("char c = '\"'; void g(int a);") ==
        declarations("char c = '\"'; void g(int b);"));
}
