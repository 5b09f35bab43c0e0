# What `make install` lays down: headers, libraries, the program.
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS alkstore alkstore-static)
if(TARGET alk)
    install(TARGETS alk)
endif()
