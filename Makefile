# The doors of the project. CMake does the building (CMakePresets.json), scripts/ the rest.
#
#   make demo                  fifteen seconds that show what it does
#   make build                 leaves the program at build/alk
#   make check                 what every commit must pass; ends with "N passed, N failed, N skipped"
#   make check ALK_TEST_REQUIRE=    the same on a machine without a PostgreSQL server
#   make bench                 figures: times and rates of schedules beside hand-written SQL
#   make proof                 what is slower: all sanitizers over everything, clang-tidy, long tests
#   make install PREFIX=DIR    headers, libraries, program; make uninstall PREFIX=DIR removes them
#   make clean

PREFIX ?= /usr/local
ALK_TEST_REQUIRE ?= postgres
export ALK_TEST_REQUIRE

.PHONY: build demo check proof bench install uninstall clean

build:
	@scripts/install-needs build
	@scripts/build release
	@ln -sf release/alk build/alk

demo: build
	@scripts/demo

check:
	@scripts/install-needs check
	@scripts/check check

bench:
	@scripts/install-needs check
	@scripts/build release alk-bench
	@ln -sf release/alk-bench build/alk-bench
	@scripts/with-postgres build/alk-bench schedule

proof:
	@scripts/install-needs proof
	@scripts/check proof

install: build
	umask 022 && cmake --install build/release --prefix "$$(realpath -m -- "$(PREFIX)")"

uninstall: build
	@scripts/uninstall build/release "$(PREFIX)"

clean:
	rm -rf build
