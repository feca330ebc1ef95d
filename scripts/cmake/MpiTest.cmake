# cpplan_mpi_test(name RANKS n [EXIT code] [TIMEOUT seconds] COMMAND ...): mpirun of COMMAND ends with
# that code. More ranks than cores, on this host alone, started as whoever runs the tests. Without
# yielding, a message between ranks that share a core takes a time slice.
function(cpplan_mpi_test name)
  cmake_parse_arguments(ARG "" "RANKS;EXIT;TIMEOUT" "COMMAND" ${ARGN})
  if(NOT ARG_EXIT)
    set(ARG_EXIT 0)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  string(JOIN " " command ${ARG_COMMAND})
  add_test(NAME ${name} COMMAND bash -c
    "'${MPIEXEC_EXECUTABLE}' -n ${ARG_RANKS} ${command}; code=$?; test $code = ${ARG_EXIT} || { echo \"exit code $code, not ${ARG_EXIT}\"; exit 1; }")
  set(environment
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
    OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMP_NUM_THREADS=1)
  set_tests_properties(${name} PROPERTIES LABELS mpi PROCESSORS ${ARG_RANKS}
    TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${environment}")
endfunction()
