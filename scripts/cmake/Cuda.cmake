# CUDA, where there is an nvcc: CPPLAN_HAS_CUDA says so. The plug-ins alone need it, so that a program
# without it is the same program; the kernels are tested without it (tests/emulator).
set(CPPLAN_CUDA AUTO CACHE STRING "Build the CUDA plug-ins: AUTO where nvcc is found, ON or OFF")
set_property(CACHE CPPLAN_CUDA PROPERTY STRINGS AUTO ON OFF)

set(CPPLAN_HAS_CUDA FALSE)
set(cuda_status "no CUDA: switched off")
if(NOT CPPLAN_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CPPLAN_HAS_CUDA TRUE)
  elseif(CPPLAN_CUDA STREQUAL "ON")
    message(FATAL_ERROR "CPPLAN_CUDA is ON and there is no nvcc. Set CMAKE_CUDA_COMPILER to its path")
  else()
    set(cuda_status "no CUDA: nvcc is not found")
  endif()
endif()

if(CPPLAN_HAS_CUDA)
  # Set before the language is enabled, which else chooses the oldest that nvcc knows.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real)
  endif()
  enable_language(CUDA)
  # CMake 3.25.1 does not know that nvcc takes C++20, and drops it without a word.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  if(CPPLAN_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CPPLAN_CCACHE})
  endif()
  find_package(CUDAToolkit REQUIRED)
  set(cuda_status "CUDA ${CUDAToolkit_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")

  # What cpplan_settings is to C++: g++'s pedantry and old-style casts are about nvcc's own headers.
  add_library(cpplan_cuda_settings INTERFACE)
  target_include_directories(cpplan_cuda_settings INTERFACE ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR})
  target_compile_definitions(cpplan_cuda_settings INTERFACE CPPLAN_VERSION="${PROJECT_VERSION}")
  target_compile_options(cpplan_cuda_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>  # Philox and bf16 are one source
    "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--threads 2>"
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow,-Wno-missing-field-initializers>
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wno-missing-field-initializers>)
  if(CPPLAN_WERROR)
    target_compile_options(cpplan_cuda_settings INTERFACE
      "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings>" $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
  endif()
endif()
