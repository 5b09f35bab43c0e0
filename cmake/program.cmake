# The program alk: src/program and src/cli on the static library, so that build/alk runs from where it
# is. Everything but main.c goes into a library of its own, for the tests.
file(GLOB program_sources CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/src/program/*.c ${CMAKE_SOURCE_DIR}/src/cli/*.c)
set(program_main ${program_sources})
list(FILTER program_main INCLUDE REGEX "/src/cli/main\\.c$")
list(FILTER program_sources EXCLUDE REGEX "/src/cli/main\\.c$")

if(program_sources)
    pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)
    pkg_check_modules(smartcols REQUIRED IMPORTED_TARGET smartcols)
    add_library(alk-rooms STATIC ${program_sources})
    target_compile_options(alk-rooms PRIVATE ${banned})
    target_link_libraries(alk-rooms PUBLIC alkstore-static PkgConfig::jansson PkgConfig::smartcols)
endif()

if(program_main)
    add_executable(alk ${program_main})
    target_compile_options(alk PRIVATE ${banned})
    target_link_libraries(alk PRIVATE $<TARGET_NAME_IF_EXISTS:alk-rooms> alkstore-static)
endif()
