# Each tests/fuzz/fuzz_NAME.c is one libFuzzer program.
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM name)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE $<TARGET_NAME_IF_EXISTS:alk-rooms> alkstore-static)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
