# cpplan_embed_files(folder what Type): compiles configs/<what>s/*.json (configs/<what>/ where it has no
# plural) into cpplan_<folder> as string literals, so that the binary needs no files where it is
# installed. <folder>/<what>_files.hpp declares <what>_files() and Type. A changed, new or removed file
# configures again.
function(cpplan_embed_files folder what type)
  set(directory ${PROJECT_SOURCE_DIR}/configs/${what}s)
  if(NOT EXISTS ${directory})
    set(directory ${PROJECT_SOURCE_DIR}/configs/${what})
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${directory}/*.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(code "// Generated from ${directory} by scripts/cmake/EmbedFiles.cmake.\n#include \"${folder}/${what}_files.hpp\"\n\nnamespace cpplan::${folder} {\nnamespace {\n\nconstexpr ${type} files[] = {\n")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    file(READ ${file} content)
    string(APPEND code "    {\"${name}\", R\"json(${content})json\"},\n")
  endforeach()
  string(APPEND code "};\n\n}  // namespace\n\nstd::span<const ${type}> ${what}_files() {\n  return files;\n}\n\n}  // namespace cpplan::${folder}\n")
  set(generated ${PROJECT_BINARY_DIR}/generated/${what}_files.cpp)
  file(GENERATE OUTPUT ${generated} CONTENT "${code}")
  target_sources(cpplan_${folder} PRIVATE ${generated})
endfunction()
