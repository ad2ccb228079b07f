// The kernels of GRU with reset_after = true: their inputs and outputs in each step.
#include "recurrent/forward_pass.h"
#include "recurrent/gradient_pass.h"

namespace crescent::cpu {
namespace {

// inputs: x, h0, kernel, recurrent, bias; outputs: hs, last h, gates
template <class T>
class GruForward final : public RecurrentForward<T> {
 public:
  explicit GruForward(const Request& r) : RecurrentForward<T>(r, 3, 2) {}

  void run(const Arguments& a) const override {
    this->run_steps(a, {this->loops_.gru_input, this->loops_.gru},
                    {a.in<T>(1), nullptr, a.out<T>(0), nullptr, a.out<T>(2)});
    this->copy_last(a.in<T>(1), a.out<T>(0), a.out<T>(1));
  }
};

// inputs: x, h0, kernel, recurrent, bias, hs, gates, dhs, dlast_h, optional dropout factors;
// outputs: dx, dh0, dkernel, drecurrent, dbias
template <class T>
class GruGradient final : public RecurrentGradient<T> {
 public:
  explicit GruGradient(const Request& r)
      : RecurrentGradient<T>(r, 3, 6 * r.inputs[1].shape[1], false, 9) {}

  void run(const Arguments& a) const override {
    const int64_t units = this->units_;
    const T *gates = a.in<T>(6), *dhs = a.in<T>(7);
    this->run_backwards(
        a,
        {a.in<T>(0), a.in<T>(1), a.in<T>(2), a.in<T>(3), a.in<T>(5), a.in<T>(8), this->factors(a),
         a.out<T>(0), a.out<T>(1), a.out<T>(2), a.out<T>(3), a.out<T>(4)},
        true, [&](const auto& row) {
          const int64_t state = this->row_offset(row.sample, row.step, units);
          this->loops_.gru_gradient(units, gates + 4 * state, row.h_before, dhs + state, row.dh,
                                    row.dx_products, row.dh_products, row.dbias);
        });
  }
};

}  // namespace

std::unique_ptr<Kernel> make_gru(const Request& r) { return make_recurrent<GruForward>(r); }
std::unique_ptr<Kernel> make_gru_gradient(const Request& r) {
  return make_recurrent<GruGradient>(r);
}

}  // namespace crescent::cpu
