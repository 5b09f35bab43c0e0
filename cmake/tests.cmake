# Each tests/ROOM/test_NAME.c is one cmocka program and one test, ROOM/NAME; tests/support is linked to
# all. NAME_slow has the label slow, NAME_proof the label proof (only `make proof` runs it).
# scripts/run-tests runs them; `ctest` does too, without a server.
pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)

add_library(test-inside INTERFACE)
target_include_directories(test-inside INTERFACE ${CMAKE_SOURCE_DIR}/tests)
target_compile_definitions(test-inside INTERFACE
    ALK_TEST_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ALK_TEST_BUILD_DIR="${CMAKE_BINARY_DIR}")
target_link_libraries(test-inside INTERFACE
    $<TARGET_NAME_IF_EXISTS:alk-rooms> alkstore-static PkgConfig::cmocka)

file(GLOB support_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/*.c)
if(support_sources)
    add_library(test-support STATIC ${support_sources})
    target_link_libraries(test-support PUBLIC test-inside)
endif()

file(GLOB test_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/test_*.c)
foreach(source IN LISTS test_sources)
    string(REGEX REPLACE ".*/([^/]+)/test_([^/]+)\\.c$" "\\1/\\2" test ${source})
    cmake_path(GET test PARENT_PATH room)
    cmake_path(GET test FILENAME name)
    set(target test-${room}-${name})
    set(labels ${room})
    set(timeout 180)
    if(name MATCHES "_(slow|proof)$")
        list(APPEND labels ${CMAKE_MATCH_1})
        set(timeout 400)
    endif()
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME test_${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/${room})
    target_link_libraries(${target} PRIVATE $<TARGET_NAME_IF_EXISTS:test-support> test-inside)
    add_test(NAME ${test} COMMAND ${target})
    set_tests_properties(${test} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout})
    if(TARGET alk)
        add_dependencies(${target} alk)
    endif()
endforeach()
