// Operations: the functions of cr.ops, which have the signatures of keras.ops. A plugin registers
// an OperationSchema for each, with the signature as Keras writes it (parse_parameters):
//
//   CRESCENT_PLUGIN("acme.ops", "1.0.0") {
//     Operations(registry, "acme").add("Softcap", "softcap(x, limit=50.0)", softcap, "Bounded.");
//   }
//
// Crescent derives from an OperationSchema: the Lua function with positional and keyword arguments,
// help, completion and error messages; the call on symbols, which adds a layer to the graph; and
// the form in which model files store this layer. On large tensors, a function of several ops runs
// as one program, which is recorded once for the specs of the tensors and the other arguments; the
// function must therefore have no effects besides applying ops and failing.
#pragma once
#include "crescent/layer/node.h"
#include "crescent/ops/ops.h"
#include "crescent/registry/registry.h"

namespace crescent {

/// The type of an operation's result.
enum class OperationResult : uint8_t {
  tensor,
  list,             ///< several results, which Lua gets as one list
  tuple,            ///< several results, which Lua gets one after the other
  tensor_or_tuple,  ///< one tensor or several, depending on the arguments
  host_value,       ///< a shape or number, which follows from the spec of a symbol too
};

/// The registration of one operation.
struct OperationSchema {
  std::vector<std::string> functions;  ///< names in cr.ops: absolute, abs
  std::string module;                  ///< "keras.src.ops.numpy"
  std::string keras_class;             ///< "Absolute"
  Signature signature;                 ///< named after the first of `functions`
  OperationResult result = OperationResult::tensor;
  Method method;
};

/// A registered function of cr.ops.
class CRESCENT_API Operation final : public Plain {
 public:
  static constexpr const char* kKind = "operation";
  explicit Operation(std::shared_ptr<const OperationSchema> schema) : schema_(std::move(schema)) {}
  const OperationSchema& schema() const { return *schema_; }
  const std::string& name() const { return schema_->functions.front(); }
  /// Calls the operation with arguments by name. Tensors and variables are boxed; numbers and lists
  /// of them count as tensors. The results are boxed too. If there are symbols among the arguments,
  /// the call adds a layer to the graph, and the results are that layer's outputs.
  Value operator()(const Dict& arguments) const;
  /// Merges positional and keyword arguments into one dictionary.
  Dict arguments(const List& positional, const Dict& keywords) const;

 private:
  Value on_tensors(const Dict& arguments) const;
  Value on_symbols(const Dict& arguments) const;
  std::shared_ptr<const OperationSchema> schema_;
};

/// An argument that is a number or a tensor.
struct NumberOrTensor : ops::Operand {
  NumberOrTensor() : Operand(0.0) {}
  NumberOrTensor(Operand operand) : Operand(std::move(operand)) {}
};
CRESCENT_CODEC(NumberOrTensor);

/// An argument that is a number or a list of numbers; null and false give an empty list.
struct AxisList : std::vector<int> {};
CRESCENT_CODEC(AxisList);

namespace detail {

template <class T>
struct ArgumentTraits {
  using Type = T;
  static constexpr bool is_tensor = false, is_list = false;
};
template <>
struct ArgumentTraits<Tensor> {
  using Type = Tensor;
  static constexpr bool is_tensor = true, is_list = false;
};
template <>
struct ArgumentTraits<ops::Operand> {
  using Type = NumberOrTensor;
  static constexpr bool is_tensor = true, is_list = false;
};
template <>
struct ArgumentTraits<std::vector<int>> {
  using Type = AxisList;
  static constexpr bool is_tensor = false, is_list = true;
};
template <class T>
struct ArgumentTraits<std::vector<T>> {
  using Type = std::vector<T>;
  static constexpr bool is_tensor = ArgumentTraits<T>::is_tensor, is_list = true;
};
template <>
struct ArgumentTraits<Shape> {
  using Type = Shape;
  static constexpr bool is_tensor = false, is_list = true;
};
template <>
struct ArgumentTraits<std::span<const Tensor>> : ArgumentTraits<Tensors> {};

template <class R>
struct Result {
  static constexpr OperationResult kind = OperationResult::host_value;
  static Value encode(const R& result) { return Codec<R>::encode(result); }
  static std::string type() { return Codec<R>::type(); }
};
template <>
struct Result<Tensor> {
  static constexpr OperationResult kind = OperationResult::tensor;
  static Value encode(const Tensor& result) { return Codec<Tensor>::encode(result); }
  static std::string type() { return Codec<Tensor>::type(); }
};
template <>
struct Result<Tensors> {
  static constexpr OperationResult kind = OperationResult::list;
  static Value encode(const Tensors& result) { return Codec<Tensors>::encode(result); }
  static std::string type() { return "a list of tensors"; }
};
template <>
struct Result<Value> {
  static constexpr OperationResult kind = OperationResult::tensor_or_tuple;
  static Value encode(const Value& result) { return result; }
  static std::string type() { return "a tensor or several"; }
};
template <>
struct Result<Shape> {
  static constexpr OperationResult kind = OperationResult::host_value;
  static Value encode(const Shape& result) { return List(result.begin(), result.end()); }
  static std::string type() { return Codec<Shape>::type(); }
};
template <class... T>
struct Result<std::tuple<T...>> {
  static constexpr OperationResult kind = OperationResult::tuple;
  static Value encode(const std::tuple<T...>& result) {
    return std::apply([](const T&... each) { return List{Codec<T>::encode(each)...}; }, result);
  }
  static std::string type() { return join(std::vector<std::string>{Codec<T>::type()...}); }
};

template <class R, class... A>
class BoundOperation final : public MethodAccess {
 public:
  using Frame = std::tuple<typename ArgumentTraits<std::decay_t<A>>::Type...>;
  explicit BoundOperation(R (*f)(A...)) : f_(f) {}
  Value call(void*, const Method& method, const Dict& arguments) const override {
    Frame frame{};
    method.fill(&frame, arguments);
    return Result<R>::encode(std::apply(f_, frame));
  }

 private:
  R (*f_)(A...);
};

}  // namespace detail

/// Registers operations of one module.
class CRESCENT_API Operations : private SchemaBuilder {
 public:
  Operations(Registry& registry, std::string module);
  /// Adds a function, which may have several names: "absolute|abs(x)". The signature names each
  /// parameter of f; a parameter with the default None is default-constructed.
  template <class R, class... A>
  Operations& add(const char* keras_class, const char* signature, R (*f)(A...),
                  const char* doc = "") {
    using Bound = detail::BoundOperation<R, A...>;
    begin(keras_class, signature, doc, std::unique_ptr<const MethodAccess>(new Bound(f)),
          detail::Result<R>::kind, detail::Result<R>::type());
    [[maybe_unused]] const typename Bound::Frame frame{};
    [[maybe_unused]] const auto offset = [&](const auto& member) {
      return reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&frame);
    };
    [&]<size_t... I>(std::index_sequence<I...>) {
      (parameter<typename std::tuple_element_t<
           I, std::tuple<detail::ArgumentTraits<std::decay_t<A>>...>>>(I,
                                                                       offset(std::get<I>(frame))),
       ...);
    }
    (std::index_sequence_for<A...>());
    finish();
    return *this;
  }
  /// Adds a lambda without captures.
  template <class F>
  Operations& add(const char* keras_class, const char* signature, F f,
                  const char* doc = "") requires(std::is_class_v<F>) {
    return add(keras_class, signature, +f, doc);
  }

 private:
  void begin(const char* keras_class, const char* signature, const char* doc,
             std::unique_ptr<const MethodAccess> access, OperationResult result, std::string type);
  void add(size_t index, const MemberType& type, std::ptrdiff_t offset, bool is_tensor,
           bool is_list);
  template <class H>
  void parameter(size_t index, std::ptrdiff_t offset) {
    add(index, MemberType::of<typename H::Type>(), offset, H::is_tensor, H::is_list);
  }
  void finish();

  Registry& registry_;
  std::string module_, signature_;
  std::shared_ptr<OperationSchema> schema_;
};

}  // namespace crescent
