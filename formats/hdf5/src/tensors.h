// Between the file's arrays and the framework's tensors.
#pragma once
#include "crescent/tensor/tensor.h"
#include "file_reader.h"
#include "tree.h"

namespace crescent::hdf5 {

/// Shares the array's memory.
Tensor to_tensor(const Array& array);
/// Stays in the file, whose reader lives as long when the dataset is packed; numbers that we wrote
/// are compared with their checksums when they are first read.
Tensor tensor_in_file(std::unique_ptr<FileReader> file, const std::string& dataset);
/// Shares the tensor's memory.
Array to_array(const Tensor& tensor);
Node dataset_node(std::string path, const Tensor& value);

DType dtype_of(Element element);
/// Fails over eight axes, naming `what`.
Shape shape_of(const std::vector<uint64_t>& dims, std::string_view what);

}  // namespace crescent::hdf5
