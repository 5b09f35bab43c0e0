# Each bench/bench_NAME.c is one program that prints figures. Built only when asked for by name:
# scripts/build release bench_when
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/bench_*.c)
foreach(source IN LISTS bench_sources)
    cmake_path(GET source STEM name)
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${name} PRIVATE $<TARGET_NAME_IF_EXISTS:alk-rooms> alkstore-static)
endforeach()
