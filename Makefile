# The doors of the project; CMake does the building (CMakePresets.json).

.PHONY: build clean

build:
	scripts/build release
	ln -sf release/alk build/alk

clean:
	rm -rf build
