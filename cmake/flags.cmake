# The language, the warnings and the sanitizers: the same for every file.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_compile_definitions(_GNU_SOURCE)
add_compile_options(
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    -Wformat=2 -Wvla -Wundef -Wswitch-enum -Wwrite-strings -Wcast-qual)
if(ALK_WERROR)
    add_compile_options(-Werror)
endif()
if(ALK_SANITIZE)
    add_compile_options(-fsanitize=${ALK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${ALK_SANITIZE})
endif()
