# Language, warnings, sanitizers: what every target of the project is built with.
option(CPPLAN_TESTS "Build the tests" ON)
option(CPPLAN_WERROR "Treat warnings as errors" OFF)
option(CPPLAN_FUZZ "Build the fuzz targets (clang)" OFF)
option(CPPLAN_UNITY "Compile the files of a folder together: a whole build is shorter, a change is not" OFF)
set(CPPLAN_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# -g1 keeps stack traces and builds a quarter faster; contracts stay on in every build.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

find_program(CPPLAN_CCACHE ccache)
if(CPPLAN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CPPLAN_CCACHE})
endif()

add_library(cpplan_settings INTERFACE)
target_include_directories(cpplan_settings INTERFACE
  ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR})
target_compile_definitions(cpplan_settings INTERFACE CPPLAN_VERSION="${PROJECT_VERSION}")
target_compile_options(cpplan_settings INTERFACE
  -Wall -Wextra -Wpedantic
  -Wshadow                # a name that hides another is read wrongly
  -Wnon-virtual-dtor
  -Wold-style-cast
  -Woverloaded-virtual    # a backend that hides an op
  -Wimplicit-fallthrough
  -Wno-missing-field-initializers  # {.a = 1} leaves the rest at its default on purpose
  -fno-math-errno)
if(CPPLAN_FUZZ)  # the standard headers that clang 14 cannot compile, and deduction guides of long tables
  target_compile_options(cpplan_settings INTERFACE -fbracket-depth=2048)
  target_include_directories(cpplan_settings BEFORE INTERFACE ${PROJECT_SOURCE_DIR}/tests/fuzz/clang14)
endif()
if(CPPLAN_UNITY)  # names of one file hide those of another, and a file is not the one that g++ compiles
  target_compile_options(cpplan_settings INTERFACE
    -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(CPPLAN_WERROR)
  target_compile_options(cpplan_settings INTERFACE -Werror)
endif()
if(CPPLAN_SANITIZE)
  # What the sanitizers find they find without optimisation, which builds more than twice as fast; the
  # kernels and the tests' reference, where the time of a test goes, keep theirs, and the fuzzer needs
  # speed to find anything. The instrumentation makes g++ 12 see uninitialised values in std::optional
  # where there are none.
  if(CPPLAN_FUZZ)
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  else()
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O0 -g1")
  endif()
  target_compile_options(cpplan_settings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # The fence is between processes (a rank's status file), which no sanitizer of threads follows.
  if(CPPLAN_SANITIZE STREQUAL "thread")
    target_compile_options(cpplan_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
  # vptr checks double the build time of files with many templates and find nothing here.
  target_compile_options(cpplan_settings INTERFACE
    -fsanitize=${CPPLAN_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer)
  target_link_options(cpplan_settings INTERFACE -fsanitize=${CPPLAN_SANITIZE})
  target_compile_definitions(cpplan_settings INTERFACE CPPLAN_SANITIZED=1)
endif()
