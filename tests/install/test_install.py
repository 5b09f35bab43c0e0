#!/usr/bin/env python3
"""test_install.py BUILD: installs the build in a folder of its own, and builds and runs there, outside the tree, what
README shows."""
import atexit
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import tap

BUILD = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="alk-install."))
PREFIX = FOLDER / "prefix"
LIBRARY = PREFIX / "lib" / "libalkstore.so"
CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES C)
find_package(alkstore 0.1 REQUIRED)
add_executable(outside hello.c)
target_link_libraries(outside PRIVATE alkstore::alkstore)
"""
ENVIRONMENT = {**os.environ, "PKG_CONFIG_PATH": str(PREFIX / "lib" / "pkgconfig"),
               "LD_LIBRARY_PATH": str(PREFIX / "lib")}


def output(*command, **options):
    done = subprocess.run([str(word) for word in command], env=ENVIRONMENT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}"
    return done.stdout


def pkg_config(*options):
    return output("pkg-config", *options, "alkstore").split()


def example(name):
    """The example of README that is marked with this name."""
    readme = (tap.ROOT / "README.md").read_text()
    return re.search(rf"<!-- check: {name} -->\n```\w+\n(.*?)```", readme, re.S).group(1)


def install():
    atexit.register(shutil.rmtree, FOLDER)
    output("cmake", "--install", BUILD, "--prefix", PREFIX)
    for name in ("hello.c", "hello.cc"):
        (FOLDER / name).write_text(example("c"))


def says_hello(program):
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        said = output(program, cwd=folder)
    assert said == 'hello "world"\n', said


def build_and_run(compiler, source, libraries):
    output(*compiler, "-Wall", "-Wextra", "-pedantic", "-Werror", source, *pkg_config("--cflags"),
           "-o", "hello", *libraries, cwd=FOLDER)
    says_hello(FOLDER / "hello")


def static_libraries():
    """Debian's libpq.a wants more than its libpq.pc says on some releases, so ours alone is static."""
    libraries = pkg_config("--libs")
    libraries[libraries.index("-lalkstore")] = "-l:libalkstore.a"
    return [*libraries, *output("pkg-config", "--libs", "libpq", "sqlite3").split(), "-lpthread"]


def test_a_c_program_links_the_shared_library():
    build_and_run(["gcc", "-std=c99"], "hello.c", pkg_config("--libs"))


def test_a_cpp_program_links_the_shared_library():
    build_and_run(["g++", "-std=c++11"], "hello.cc", pkg_config("--libs"))


def test_a_c_program_links_the_static_library():
    build_and_run(["gcc", "-std=c99"], "hello.c", static_libraries())


def test_a_cpp_program_links_the_static_library():
    build_and_run(["g++", "-std=c++11"], "hello.cc", static_libraries())


def test_pkg_config_names_the_private_libraries_to_static_linkers_only():
    assert "-lpq" not in pkg_config("--libs") and "-lsqlite3" not in pkg_config("--libs")
    cache = (BUILD / "CMakeCache.txt").read_text()
    wanted = {library for library, engine in (("-lpq", "POSTGRES"), ("-lsqlite3", "SQLITE"))
              if f"ALK_WITH_{engine}:BOOL=ON" in cache}
    assert wanted | {"-lpthread"} <= set(pkg_config("--libs", "--static"))


def test_a_cmake_project_finds_the_package():
    (FOLDER / "CMakeLists.txt").write_text(CMAKE)
    output("cmake", "-S", FOLDER, "-B", FOLDER / "outside", f"-DCMAKE_PREFIX_PATH={PREFIX}")
    output("cmake", "--build", FOLDER / "outside")
    says_hello(FOLDER / "outside" / "outside")


def test_the_shared_library_has_a_soname():
    assert "[libalkstore.so.0]" in output("readelf", "-d", LIBRARY)


def test_the_shared_library_exports_the_public_names_and_no_others():
    names = {line.split()[-1] for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines()}
    headers = "".join(path.read_text() for path in PREFIX.glob("include/alkstore/*.h"))
    declared = set(re.findall(r"^ALK_API\b[^;{]*?\b(alk_\w+)\(", headers, re.M))
    assert names == declared, f"not exported: {declared - names}, not public: {names - declared}"


def test_the_example_of_c_is_the_file_in_examples():
    assert (tap.ROOT / "examples" / "hello.c").read_text() == example("c")


def test_the_example_of_shell_runs_with_the_installed_program():
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        path = f"PATH={PREFIX / 'bin'}:{os.environ['PATH']}"
        said = output("env", path, "sh", "-eu", "-c", example("shell"), cwd=folder)
    assert "ada@example.org" in said, said


def test_uninstall_leaves_no_empty_folder():
    other = FOLDER / "other place"
    output("cmake", "--install", BUILD, "--prefix", other)
    output(tap.ROOT / "scripts" / "uninstall", BUILD, other)
    assert not other.exists(), list(other.rglob("*"))


def test_uninstall_leaves_what_is_somebody_elses_and_nothing_more():
    (PREFIX / "lib" / "other").write_text("somebody else's")
    output(tap.ROOT / "scripts" / "uninstall", BUILD, PREFIX)
    left = [path.relative_to(PREFIX).as_posix() for path in PREFIX.rglob("*")]
    assert left == ["lib", "lib/other"], left


tap.main(sys.modules[__name__], install)
