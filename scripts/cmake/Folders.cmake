# cpplan_folder(name [DIRECTORY dir] [DEPENDS folder...]): one static library of all sources below
# lib/name (or dir), linked to the folders it may include.
function(cpplan_folder name)
  cmake_parse_arguments(ARG "" "DIRECTORY" "DEPENDS" ${ARGN})
  set(directory ${ARG_DIRECTORY})
  if(NOT directory)
    set(directory lib/${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${directory}/*.cpp)
  set(target cpplan_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(${target} ${scope} cpplan_settings)
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(${target} ${scope} cpplan_${dependency})
  endforeach()
endfunction()

function(cpplan_link folder)
  get_target_property(type cpplan_${folder} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_link_libraries(cpplan_${folder} INTERFACE ${ARGN})
  else()
    target_link_libraries(cpplan_${folder} PUBLIC ${ARGN})
  endif()
endfunction()

# Which folder uses which third-party library; each in one file of it.
function(cpplan_third_party)
  cpplan_link(base tl::expected fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json Threads::Threads)
  cpplan_link(config yaml-cpp::yaml-cpp)
  cpplan_link(comm MPI::MPI_C)
  target_compile_definitions(cpplan_settings INTERFACE OMPI_SKIP_MPICXX=1)
  cpplan_link(kernels DNNL::dnnl gomp)  # gomp: oneDNN's threads, of which a rank takes one
  # The host kernels are written to be vectorised; a sum is reassociated only where `omp simd
  # reduction` says so.
  file(GLOB cpu_sources ${PROJECT_SOURCE_DIR}/kernels/cpu/*.cpp)
  set_source_files_properties(${cpu_sources} PROPERTIES COMPILE_OPTIONS "-O3;-fno-trapping-math;-fopenmp-simd")
endfunction()
