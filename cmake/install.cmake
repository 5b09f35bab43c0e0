# What `make install` lays down: headers, libraries, alkstore.pc, the CMake package, the program, its
# manual pages and what stands in dist/. All of it may be moved as a whole afterwards.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS alkstore EXPORT alkstore)
install(TARGETS alkstore-static)
if(TARGET alk)
    install(TARGETS alk)
endif()

# pkg-config. The engines' libraries are private: only who links the static library needs them.
set(pc_requires)
if(ALK_WITH_POSTGRES)
    list(APPEND pc_requires libpq)
endif()
if(ALK_WITH_SQLITE)
    list(APPEND pc_requires sqlite3)
endif()
list(JOIN pc_requires ", " pc_requires)
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/alkstore.pc.in generated/alkstore.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/alkstore.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# find_package(alkstore) gives alkstore::alkstore, the shared library.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/alkstore)
install(EXPORT alkstore NAMESPACE alkstore:: FILE alkstoreConfig.cmake DESTINATION ${package})
write_basic_package_version_file(generated/alkstoreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/alkstoreConfigVersion.cmake DESTINATION ${package})

# man/NAME.SECTION.scd, where scdoc is there to make pages of them.
find_program(SCDOC scdoc)
file(GLOB manual_sources CONFIGURE_DEPENDS man/*.scd)
if(SCDOC)
    foreach(source IN LISTS manual_sources)
        cmake_path(GET source STEM LAST_ONLY page)
        cmake_path(GET page EXTENSION LAST_ONLY section)
        string(SUBSTRING ${section} 1 -1 section)
        set(made ${CMAKE_BINARY_DIR}/generated/${page})
        add_custom_command(OUTPUT ${made} COMMAND ${SCDOC} <${source} >${made} DEPENDS ${source})
        install(FILES ${made} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
        list(APPEND manual_pages ${made})
    endforeach()
    add_custom_target(manual ALL DEPENDS ${manual_pages})
endif()

# The systemd unit and the shells' completions.
file(GLOB units CONFIGURE_DEPENDS dist/*.service)
install(FILES ${units} DESTINATION lib/systemd/system)
file(GLOB bash_completions CONFIGURE_DEPENDS dist/*.bash)
foreach(file IN LISTS bash_completions)
    cmake_path(GET file STEM name)
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${name})
endforeach()
file(GLOB fish_completions CONFIGURE_DEPENDS dist/*.fish)
install(FILES ${fish_completions} DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
file(GLOB zsh_completions CONFIGURE_DEPENDS dist/_*)
install(FILES ${zsh_completions} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
