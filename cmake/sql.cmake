# Embeds sql/ into the library: generated/sql_embedded.c gives the arrays that src/store/sql_files.h declares.
# The list of files is kept in a file of its own, so that adding and removing one are seen like a change in one.
file(GLOB_RECURSE sql_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/sql/*.sql)
list(SORT sql_files)
string(REPLACE ";" "\n" sql_list "${sql_files}")
file(CONFIGURE OUTPUT generated/sql_files.txt CONTENT "${sql_list}\n" @ONLY)

set(sql_embedded ${CMAKE_BINARY_DIR}/generated/sql_embedded.c)
list(TRANSFORM sql_files PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE sql_paths)
add_custom_command(
    OUTPUT ${sql_embedded}
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DLIST=${CMAKE_BINARY_DIR}/generated/sql_files.txt
            -DOUTPUT=${sql_embedded} -P ${CMAKE_SOURCE_DIR}/cmake/embed_sql.cmake
    DEPENDS ${sql_paths} ${CMAKE_BINARY_DIR}/generated/sql_files.txt ${CMAKE_SOURCE_DIR}/cmake/embed_sql.cmake
    COMMENT "Embedding sql/" VERBATIM)
set_source_files_properties(${sql_embedded} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
