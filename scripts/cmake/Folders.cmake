# cpplan_folder(name [DIRECTORY dir] [DEPENDS folder...]): one static library of all sources below
# lib/name (or dir) that are not in CPPLAN_NOT_BUILT, linked to the folders it may include.
function(cpplan_folder name)
  cmake_parse_arguments(ARG "" "DIRECTORY" "DEPENDS" ${ARGN})
  set(directory ${ARG_DIRECTORY})
  if(NOT directory)
    set(directory lib/${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${directory}/*.cpp)
  list(REMOVE_ITEM sources ${CPPLAN_NOT_BUILT})
  list(FILTER sources EXCLUDE REGEX "/(kernels/cuda|plugin)/")  # plug-ins of their own
  set(target cpplan_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(${target} ${scope} cpplan_settings)
  if(CPPLAN_UNITY AND sources)
    # Reading the headers is most of what a file takes without optimisation. The pages are tables that
    # all have one name.
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    set(pages ${sources})
    list(FILTER pages INCLUDE REGEX "/pages/")
    set_source_files_properties(${pages} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
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
  if(Arrow_FOUND)
    cpplan_link(data Arrow::arrow_shared)
  endif()
  cpplan_link(checkpoint xxHash::xxhash)
  cpplan_link(comm MPI::MPI_C)
  target_compile_definitions(cpplan_settings INTERFACE OMPI_SKIP_MPICXX=1)
  cpplan_link(kernels DNNL::dnnl gomp)  # gomp: oneDNN's threads, of which a rank takes one
  # The host kernels are written to be vectorised; a sum is reassociated only where `omp simd
  # reduction` says so.
  file(GLOB cpu_sources ${PROJECT_SOURCE_DIR}/kernels/cpu/*.cpp)
  set_source_files_properties(${cpu_sources} PROPERTIES COMPILE_OPTIONS "-O3;-fno-trapping-math;-fopenmp-simd")
endfunction()
