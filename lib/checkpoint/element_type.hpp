#pragma once
// The number formats of tensors in files, under the names of the safetensors format.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.hpp"

namespace cpplan::checkpoint {

enum class ElementType : std::uint8_t { bf16, f16, f32, f64 };

Bytes size_of(ElementType);

/// "BF16", "F16", "F32", "F64".
std::string_view name_of(ElementType);
std::optional<ElementType> element_type(std::string_view name);
/// PyTorch's name, as config.json has it: "bfloat16".
std::string_view torch_name_of(ElementType);

/// `count` elements from one format to another; narrowing rounds to the nearest, ties to even. Of
/// the same format every bit stays. Buffers need no alignment and do not overlap.
void convert(ElementType from, const std::byte* source, ElementType to, std::byte* target,
             Index count);

}  // namespace cpplan::checkpoint
