// The table of kernels for LSTM and GRU.
#include "recurrent/sequence.h"

namespace crescent::cpu {

std::span<const KernelEntry> recurrent_kernels() {
  static constexpr KernelFactory kThroughFloat32 = make_converted<recurrent_kernels>;
  static constexpr KernelEntry kEntries[] = {{"lstm", make_lstm},
                                             {"lstm", kThroughFloat32},
                                             {"lstm_backward", make_lstm_gradient},
                                             {"lstm_backward", kThroughFloat32},
                                             {"lstm_gates", make_lstm_gates},
                                             {"lstm_gates_backward", make_lstm_gates_gradient},
                                             {"gru", make_gru},
                                             {"gru", kThroughFloat32},
                                             {"gru_backward", make_gru_gradient},
                                             {"gru_backward", kThroughFloat32}};
  return kEntries;
}

}  // namespace crescent::cpu
