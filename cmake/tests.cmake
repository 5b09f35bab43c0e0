# Each tests/ROOM/test_NAME.c is one cmocka program and one test, ROOM/NAME; tests/support is linked to
# all. tests/ROOM/test_NAME.py is one too; it gets the build folder and speaks TAP like the others.
# NAME_slow has the label slow, NAME_proof the label proof (only `make proof` runs it), and both more
# time. scripts/run-tests runs them; `ctest` does too, without a server.
pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)

add_library(test-inside INTERFACE)
target_include_directories(test-inside INTERFACE ${CMAKE_SOURCE_DIR}/tests)
target_compile_definitions(test-inside INTERFACE
    ALK_TEST_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ALK_TEST_BUILD_DIR="${CMAKE_BINARY_DIR}")
target_link_libraries(test-inside INTERFACE
    $<TARGET_NAME_IF_EXISTS:alk-rooms> alkstore-static PkgConfig::cmocka)

file(GLOB support_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/*.c)
if(NOT ALK_WITH_POSTGRES)
    list(FILTER support_sources EXCLUDE REGEX "/(relay|server|session)\\.c$")
endif()
if(NOT ALK_WITH_SQLITE)
    list(FILTER support_sources EXCLUDE REGEX "/program\\.c$")
endif()
if(support_sources)
    add_library(test-support STATIC ${support_sources})
    target_link_libraries(test-support PUBLIC test-inside)
endif()

file(GLOB test_sources CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/tests/*/test_*.c ${CMAKE_SOURCE_DIR}/tests/*/test_*.py)
# What speaks to an engine that is left out, or runs the program on a file.
if(NOT ALK_WITH_POSTGRES)
    list(FILTER test_sources EXCLUDE REGEX "/test_(postgres[^/]*|crash_slow\\.c)$")
endif()
if(NOT ALK_WITH_SQLITE)
    list(FILTER test_sources EXCLUDE REGEX
        "/((cli|install)/[^/]*|store/test_(join|open|statements|tx|wake)\\.c|core/test_tick_index\\.c)$")
endif()
foreach(source IN LISTS test_sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME room)
    cmake_path(GET source STEM program)
    string(REGEX REPLACE "^test_" "" name ${program})

    if(source MATCHES "\\.py$")
        add_test(NAME ${room}/${name} COMMAND ${source} ${CMAKE_BINARY_DIR})
    else()
        set(target test-${room}-${name})
        add_executable(${target} ${source})
        set_target_properties(${target} PROPERTIES
            OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/${room})
        target_link_libraries(${target} PRIVATE $<TARGET_NAME_IF_EXISTS:test-support> test-inside)
        if(TARGET alk)
            add_dependencies(${target} alk)
        endif()
        add_test(NAME ${room}/${name} COMMAND ${target})
    endif()

    set(labels ${room})
    set(timeout 180)
    if(name MATCHES "_(slow|proof)$")
        list(APPEND labels ${CMAKE_MATCH_1})
        set(timeout 400)
    endif()
    set_tests_properties(${room}/${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout})
endforeach()

# tests/fuzz/corpus/NAME holds inputs for tests/fuzz/fuzz_NAME.c; the test fuzz/NAME gives it each of them.
file(GLOB corpora CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/*)
foreach(corpus IN LISTS corpora)
    cmake_path(GET corpus FILENAME name)
    set(target test-fuzz-${name})
    add_executable(${target} ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_${name}.c)
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME test_${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fuzz)
    target_compile_definitions(${target} PRIVATE ALK_FUZZ_CORPUS="${corpus}")
    target_link_libraries(${target} PRIVATE test-inside)
    add_test(NAME fuzz/${name} COMMAND ${target})
    set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz TIMEOUT 180)
endforeach()
