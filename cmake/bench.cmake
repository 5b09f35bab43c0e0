# bench/ is one program, which is built only when asked for by name and needs both engines:
# scripts/build release alk-bench
if(ALK_WITH_SQLITE AND ALK_WITH_POSTGRES)
    file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.c)
    add_executable(alk-bench EXCLUDE_FROM_ALL ${bench_sources})
    target_link_libraries(alk-bench PRIVATE $<TARGET_NAME_IF_EXISTS:alk-rooms> alkstore-static)
endif()
