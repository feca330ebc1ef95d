# Third-party libraries, found on the system; no network at configure time.
find_package(CLI11 2.1 CONFIG REQUIRED)
find_package(yaml-cpp 0.7 CONFIG REQUIRED)
if(NOT TARGET yaml-cpp::yaml-cpp)  # the name came with 0.8
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
find_package(fmt 9 CONFIG REQUIRED)
find_package(spdlog 1.10 CONFIG REQUIRED)
find_package(nlohmann_json 3.11 CONFIG REQUIRED)
find_package(tl-expected CONFIG REQUIRED)
find_package(Threads REQUIRED)

set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS C)

# dnnl's own CMake config asks for OpenCL, which the CPU engine does not need.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(DNNL::dnnl UNKNOWN IMPORTED)
set_target_properties(DNNL::dnnl PROPERTIES
  IMPORTED_LOCATION ${DNNL_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})

find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
add_library(xxHash::xxhash UNKNOWN IMPORTED)
set_target_properties(xxHash::xxhash PROPERTIES
  IMPORTED_LOCATION ${XXHASH_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${XXHASH_INCLUDE_DIR})

# Optional: prepared datasets. Of two files that define the same functions one is built.
find_package(Arrow QUIET CONFIG)
if(Arrow_FOUND)
  set(CPPLAN_NOT_BUILT ${PROJECT_SOURCE_DIR}/lib/data/no_arrow_lengths.cpp)
else()
  set(CPPLAN_NOT_BUILT ${PROJECT_SOURCE_DIR}/lib/data/arrow_lengths.cpp)
endif()

if(CPPLAN_TESTS)
  find_package(doctest 2.4 CONFIG REQUIRED)
endif()

function(cpplan_dependency_summary)
  message(STATUS "cpplan ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, "
                 "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  message(STATUS "  CLI11 ${CLI11_VERSION}, yaml-cpp ${yaml-cpp_VERSION}, fmt ${fmt_VERSION}, "
                 "spdlog ${spdlog_VERSION}, nlohmann-json ${nlohmann_json_VERSION}")
  message(STATUS "  MPI ${MPI_C_VERSION}: ${MPI_C_LIBRARIES}")
  message(STATUS "  oneDNN ${DNNL_LIBRARY}, xxHash ${XXHASH_LIBRARY}")
  message(STATUS "  ${cuda_status}")
  if(Arrow_FOUND)
    message(STATUS "  Arrow ${Arrow_VERSION}")
  else()
    message(STATUS "  no Arrow: --lengths takes no prepared dataset folder")
  endif()
endfunction()
