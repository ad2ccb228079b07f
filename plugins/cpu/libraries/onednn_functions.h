// The functions of oneDNN, which is loaded when the first of them is called. Their names are macros
// for pointers to functions, so that the C++ headers of oneDNN call these pointers, too.
#pragma once
#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include "libraries/lazy_library.h"

namespace crescent::cpu {

const LazyLibrary& onednn_library();

}  // namespace crescent::cpu

#define CRESCENT_ONEDNN(name) CRESCENT_LAZY_FUNCTION(onednn_library, name)
#define dnnl_dilated_convolution_backward_data_desc_init \
  CRESCENT_ONEDNN(dnnl_dilated_convolution_backward_data_desc_init)
#define dnnl_dilated_convolution_backward_weights_desc_init \
  CRESCENT_ONEDNN(dnnl_dilated_convolution_backward_weights_desc_init)
#define dnnl_dilated_convolution_forward_desc_init \
  CRESCENT_ONEDNN(dnnl_dilated_convolution_forward_desc_init)
#define dnnl_engine_create CRESCENT_ONEDNN(dnnl_engine_create)
#define dnnl_engine_destroy CRESCENT_ONEDNN(dnnl_engine_destroy)
#define dnnl_get_effective_cpu_isa CRESCENT_ONEDNN(dnnl_get_effective_cpu_isa)
#define dnnl_matmul_desc_init CRESCENT_ONEDNN(dnnl_matmul_desc_init)
#define dnnl_memory_create CRESCENT_ONEDNN(dnnl_memory_create)
#define dnnl_memory_desc_equal CRESCENT_ONEDNN(dnnl_memory_desc_equal)
#define dnnl_memory_desc_get_size CRESCENT_ONEDNN(dnnl_memory_desc_get_size)
#define dnnl_memory_desc_init_by_strides CRESCENT_ONEDNN(dnnl_memory_desc_init_by_strides)
#define dnnl_memory_desc_init_by_tag CRESCENT_ONEDNN(dnnl_memory_desc_init_by_tag)
#define dnnl_memory_destroy CRESCENT_ONEDNN(dnnl_memory_destroy)
#define dnnl_memory_get_memory_desc CRESCENT_ONEDNN(dnnl_memory_get_memory_desc)
#define dnnl_memory_set_data_handle_v2 CRESCENT_ONEDNN(dnnl_memory_set_data_handle_v2)
#define dnnl_post_ops_append_eltwise CRESCENT_ONEDNN(dnnl_post_ops_append_eltwise)
#define dnnl_post_ops_create CRESCENT_ONEDNN(dnnl_post_ops_create)
#define dnnl_post_ops_destroy CRESCENT_ONEDNN(dnnl_post_ops_destroy)
#define dnnl_prim_kind2str CRESCENT_ONEDNN(dnnl_prim_kind2str)
#define dnnl_primitive_attr_create CRESCENT_ONEDNN(dnnl_primitive_attr_create)
#define dnnl_primitive_attr_destroy CRESCENT_ONEDNN(dnnl_primitive_attr_destroy)
#define dnnl_primitive_attr_set_post_ops CRESCENT_ONEDNN(dnnl_primitive_attr_set_post_ops)
#define dnnl_primitive_attr_set_scratchpad_mode \
  CRESCENT_ONEDNN(dnnl_primitive_attr_set_scratchpad_mode)
#define dnnl_primitive_create CRESCENT_ONEDNN(dnnl_primitive_create)
#define dnnl_primitive_desc_destroy CRESCENT_ONEDNN(dnnl_primitive_desc_destroy)
#define dnnl_primitive_desc_iterator_create CRESCENT_ONEDNN(dnnl_primitive_desc_iterator_create)
#define dnnl_primitive_desc_iterator_destroy CRESCENT_ONEDNN(dnnl_primitive_desc_iterator_destroy)
#define dnnl_primitive_desc_iterator_fetch CRESCENT_ONEDNN(dnnl_primitive_desc_iterator_fetch)
#define dnnl_primitive_desc_query CRESCENT_ONEDNN(dnnl_primitive_desc_query)
#define dnnl_primitive_desc_query_md CRESCENT_ONEDNN(dnnl_primitive_desc_query_md)
#define dnnl_primitive_destroy CRESCENT_ONEDNN(dnnl_primitive_destroy)
#define dnnl_primitive_execute CRESCENT_ONEDNN(dnnl_primitive_execute)
#define dnnl_primitive_get_primitive_desc CRESCENT_ONEDNN(dnnl_primitive_get_primitive_desc)
#define dnnl_reorder_primitive_desc_create CRESCENT_ONEDNN(dnnl_reorder_primitive_desc_create)
#define dnnl_set_primitive_cache_capacity CRESCENT_ONEDNN(dnnl_set_primitive_cache_capacity)
#define dnnl_sgemm CRESCENT_ONEDNN(dnnl_sgemm)
#define dnnl_status2str CRESCENT_ONEDNN(dnnl_status2str)
#define dnnl_stream_create CRESCENT_ONEDNN(dnnl_stream_create)
#define dnnl_stream_destroy CRESCENT_ONEDNN(dnnl_stream_destroy)
#define dnnl_version CRESCENT_ONEDNN(dnnl_version)

#include <oneapi/dnnl/dnnl.hpp>
