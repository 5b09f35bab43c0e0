# libalkstore, shared and static, from one set of objects. Only alk_* leaves the shared one; the tests
# and the program link the static one.
set(library_rooms base when store core loops)
set(library_sources)
foreach(room IN LISTS library_rooms)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.c)
    list(APPEND library_sources ${sources})
endforeach()

# What everything inside this tree is compiled with and linked to; none of it is installed.
add_library(alk-inside INTERFACE)
target_include_directories(alk-inside INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(alk-inside INTERFACE Threads::Threads)

# An engine that is left out takes its files and its database library with it.
macro(alk_engine option files module)
    if(${option})
        pkg_check_modules(${module} REQUIRED IMPORTED_TARGET ${module})
        target_link_libraries(alk-inside INTERFACE PkgConfig::${module})
        target_compile_definitions(alk-inside INTERFACE ${option}=1)
    else()
        list(FILTER library_sources EXCLUDE REGEX "/src/store/${files}[^/]*\\.c$")
        target_compile_definitions(alk-inside INTERFACE ${option}=0)
    endif()
endmacro()
alk_engine(ALK_WITH_POSTGRES postgres libpq)
alk_engine(ALK_WITH_SQLITE sqlite sqlite3)

include(sql)
set(banned -include ${CMAKE_SOURCE_DIR}/src/base/banned.h)
add_library(alkstore-objects OBJECT ${library_sources} ${sql_embedded})
target_compile_options(alkstore-objects PRIVATE ${banned})
target_link_libraries(alkstore-objects PRIVATE alk-inside)

set(exports ${CMAKE_SOURCE_DIR}/cmake/alkstore.map)
add_library(alkstore SHARED $<TARGET_OBJECTS:alkstore-objects>)
set_target_properties(alkstore PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE C LINK_DEPENDS ${exports})
target_link_options(alkstore PRIVATE -Wl,--version-script=${exports})
target_link_libraries(alkstore PRIVATE $<BUILD_INTERFACE:alk-inside>)

add_library(alkstore-static STATIC $<TARGET_OBJECTS:alkstore-objects>)
set_target_properties(alkstore-static PROPERTIES OUTPUT_NAME alkstore LINKER_LANGUAGE C)
target_link_libraries(alkstore-static PUBLIC $<BUILD_INTERFACE:alk-inside>)

foreach(library alkstore alkstore-static)
    target_include_directories(${library} PUBLIC
        $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
