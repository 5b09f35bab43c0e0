#!/usr/bin/env python3
"""test_scripts.py BUILD: the scripts that run the other tests: run-tests, with-postgres, check-includes."""
import atexit
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import tap

SCRIPTS = tap.ROOT / "scripts"
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="alk-harness."))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
DEADLINE = 60
NO_SERVER = {"ALK_TEST_POSTGRES_BIN": "/nowhere"}


def run(*command, **settings):
    """Runs one of the scripts with a clean environment and these settings."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("ALK_")}
    return subprocess.run([SCRIPTS / command[0], *map(str, command[1:])], env={**clean, **settings},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_until(condition, what):
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"waited {DEADLINE} s until {what}"
        time.sleep(0.02)


def make_build(programs, **properties):
    """A build folder as CMake would leave it, with these shell programs as its tests."""
    build = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
    listing = ""
    for name, text in programs.items():
        program = build / f"{name}.sh"
        program.write_text("#!/bin/bash\n" + text)
        program.chmod(0o755)
        listing += f"add_test({name} {program})\n"
        listing += f"set_tests_properties({name} PROPERTIES TIMEOUT {properties.get('limit', 60)}"
        listing += f" LABELS {properties.get('label', 'some')})\n"
    (build / "CTestTestfile.cmake").write_text(listing)
    return build


def run_programs(programs, *options, limit=60, **settings):
    """What run-tests says of the programs: (exit code, last line, everything)."""
    done = run("run-tests", make_build(programs, limit=limit), *options, **{**NO_SERVER, **settings})
    return done.returncode, done.stdout.splitlines()[-1], done.stdout


def need_server():
    if run("private-postgres", "find").returncode != 0:
        assert "postgres" not in os.environ.get("ALK_TEST_REQUIRE", ""), "a server is required"
        raise tap.Skip("no PostgreSQL server")


def is_alive(pid):
    """Whether the process is there and more than a zombie that nobody has buried."""
    try:
        return pathlib.Path(f"/proc/{int(pid)}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def server_of(url):
    """The folder and the process of the server that url leads to."""
    folder = pathlib.Path(url.split("host=")[1])
    return folder, (folder / "data" / "postmaster.pid").read_text().splitlines()[0]


NEEDS_SERVER = """
echo 1..2
echo ok 1 - plain
if [ "$ALK_TEST_POSTGRES" ]; then echo ok 2 - on_a_server; else echo "ok 2 # SKIP on_a_server"; fi
"""


# S222
def test_without_a_server_its_tests_are_skipped_by_name_and_number():
    code, last, text = run_programs({"engine": NEEDS_SERVER}, ALK_TEST_REQUIRE="")
    assert code == 0, text
    assert last == "1 passed, 0 failed, 1 skipped", text
    assert "skipped: engine 2 on_a_server" in text


# S222
def test_a_skip_in_the_words_of_an_older_cmocka_is_a_skip():
    code, last, text = run_programs({"old": "echo 1..1\necho 'not ok 1 # SKIP on_a_server'"})
    assert (code, last) == (0, "0 passed, 0 failed, 1 skipped"), text


# S224
def test_a_missing_server_fails_where_it_is_required():
    code, last, text = run_programs({"engine": NEEDS_SERVER}, ALK_TEST_REQUIRE="postgres")
    assert code == 1, text
    assert last == "1 passed, 1 failed, 1 skipped", text


# S224
def test_make_check_requires_a_server_unless_told_not_to():
    def dry_run(*words):
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("ALK_", "MAKE"))}
        # The shell that make starts for a recipe sees what scripts/check would.
        command = ["make", "-s", "--eval=required:; @echo \"<$$ALK_TEST_REQUIRE>\"", "required", *words]
        return subprocess.check_output(command, cwd=tap.ROOT, env=clean, text=True)

    assert dry_run() == "<postgres>\n"
    assert dry_run("ALK_TEST_REQUIRE=") == "<>\n"


# S223
def test_the_suite_runs_beside_a_private_server():
    need_server()
    where = FOLDER / "url"
    done = run("run-tests", make_build({"engine": NEEDS_SERVER + f'echo "$ALK_TEST_POSTGRES" >{where}'}))
    assert done.stdout.splitlines()[-1] == "2 passed, 0 failed, 0 skipped", done.stdout
    assert not pathlib.Path(where.read_text().strip().split("host=")[1]).exists()


# S223
def test_a_private_server_listens_on_its_socket_only():
    need_server()
    query = 'psql -Atc "SHOW listen_addresses" "$ALK_TEST_POSTGRES"'
    done = run("with-postgres", "sh", "-c", f"echo \"<$({query})>\"")
    assert done.stdout == "<>\n" and done.returncode == 0, done.stdout


# S223
def test_the_server_is_stopped_after_a_failure_and_no_other_is():
    need_server()
    other = tempfile.mkdtemp(prefix="alk-pg.", dir="/tmp")
    try:
        assert run("private-postgres", "start", other).returncode == 0
        _, others_pid = server_of(run("private-postgres", "url", other).stdout.strip())
        note = FOLDER / "failing"
        command = f'cp "${{ALK_TEST_POSTGRES#*host=}}/data/postmaster.pid" {note}; exit 7'
        assert run("with-postgres", "sh", "-c", command).returncode == 7
        assert not is_alive(note.read_text().splitlines()[0])
        assert is_alive(others_pid)
    finally:
        run("private-postgres", "stop", other)
        shutil.rmtree(other, ignore_errors=True)
    assert not is_alive(others_pid)


# S223
def test_the_server_is_stopped_when_its_keeper_is_told_to_end():
    need_server()
    note = FOLDER / "told"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("ALK_")}
    command = f'echo "$ALK_TEST_POSTGRES" >{note}.new; mv {note}.new {note}; exec sleep 600'
    keeper = subprocess.Popen([SCRIPTS / "with-postgres", "sh", "-c", command], env=clean)
    wait_until(note.exists, "the command runs")
    folder, pid = server_of(note.read_text().strip())
    keeper.send_signal(signal.SIGTERM)
    assert keeper.wait() == 128 + signal.SIGTERM
    assert not is_alive(pid) and not folder.exists()


def test_a_killed_server_comes_back_with_its_data():
    need_server()
    folder = tempfile.mkdtemp(prefix="alk-pg.", dir="/tmp")
    try:
        run("private-postgres", "start", folder)
        url = run("private-postgres", "url", folder).stdout.strip()
        subprocess.run(["psql", "-qc", "CREATE TABLE kept ()", url], check=True)
        run("private-postgres", "kill", folder)
        assert subprocess.run(["psql", "-qc", "SELECT", url], capture_output=True).returncode != 0
        assert run("private-postgres", "start", folder).returncode == 0
        subprocess.run(["psql", "-qc", "SELECT FROM kept", url], check=True, stdout=subprocess.DEVNULL)
    finally:
        run("private-postgres", "stop", folder)
        shutil.rmtree(folder, ignore_errors=True)


# S225
def test_programs_run_at_the_same_time():
    def meet(me, other):
        return f"""touch {FOLDER}/{me}
            for i in $(seq 3000); do [ -f {FOLDER}/{other} ] && break; sleep 0.01; done
            echo 1..1; [ -f {FOLDER}/{other} ] && echo ok 1 - met"""

    _, last, text = run_programs({"one": meet("one", "two"), "two": meet("two", "one")})
    assert last == "2 passed, 0 failed, 0 skipped", text


# S225
def test_a_failed_run_keeps_its_server_s_data_on_request():
    need_server()
    done = run("with-postgres", "false", ALK_TEST_KEEP="1")
    kept = pathlib.Path(done.stdout.split("kept ")[1].strip())
    assert (kept / "data" / "PG_VERSION").exists()
    assert not (kept / "data" / "postmaster.pid").exists()
    shutil.rmtree(kept)
    assert "kept" not in run("with-postgres", "true", ALK_TEST_KEEP="1").stdout


def test_a_failed_test_is_counted_and_its_program_s_output_shown():
    code, last, text = run_programs({"bad": "echo 1..2; echo not ok 1 - a; echo why; echo ok 2 - b; exit 1"})
    assert (code, last) == (1, "1 passed, 1 failed, 0 skipped"), text
    assert "\nwhy\n" in text


def test_a_program_that_crashes_has_failed():
    code, last, text = run_programs({"crash": "echo 1..3; echo ok 1 - a; kill -SEGV $$"})
    assert (code, last) == (1, "1 passed, 2 failed, 0 skipped"), text
    assert "killed by SIGSEGV" in text


def test_a_program_that_crashes_after_its_tests_has_failed():
    code, last, text = run_programs({"late": "echo 1..1; echo ok 1 - a; kill -ABRT $$"})
    assert (code, last) == (1, "1 passed, 1 failed, 0 skipped"), text


def test_a_program_that_runs_fewer_tests_than_it_announced_has_failed():
    code, last, text = run_programs({"short": "echo 1..2; echo ok 1 - a"})
    assert (code, last) == (1, "1 passed, 1 failed, 0 skipped"), text


def test_a_program_without_tests_has_failed():
    code, last, text = run_programs({"empty": "true"})
    assert (code, last) == (1, "0 passed, 1 failed, 0 skipped"), text


def test_a_program_that_is_not_built_has_failed():
    build = make_build({})
    (build / "CTestTestfile.cmake").write_text("add_test(gone gone_NOT_BUILT)\n")
    done = run("run-tests", build, **NO_SERVER)
    assert done.stdout.splitlines()[-1] == "0 passed, 1 failed, 0 skipped", done.stdout


def test_a_program_that_takes_too_long_has_failed_and_is_ended_with_its_children():
    note = FOLDER / "child"
    code, last, text = run_programs({"slow": f"sleep 600 & echo $! >{note}; echo 1..1; wait"}, limit=2)
    assert (code, last) == (1, "0 passed, 1 failed, 0 skipped"), text
    assert "not done after 2 s" in text
    wait_until(lambda: not is_alive(note.read_text()), "its child is gone")


def test_labels_choose_programs():
    build = make_build({"one": "echo 1..1; echo ok 1 - a"}, label="slow")
    assert run("run-tests", build, **NO_SERVER).stdout.endswith("1 passed, 0 failed, 0 skipped\n")
    for options in (["--exclude-label", "slow"], ["-L", "proof"], ["-R", "^two$"]):
        assert run("run-tests", build, *options, **NO_SERVER).stdout == "0 passed, 0 failed, 0 skipped\n"


def test_an_include_that_runs_upward_is_a_defect():
    def check(path, included):
        root = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(f"#include {included}\n")
        return run("check-includes", root).returncode

    assert check("src/core/job.c", '"store/run.h"') == 0
    assert check("src/cli/main.c", "<alkstore/job.h>") == 0
    assert check("src/store/sqlite.c", "<sqlite3.h>") == 0
    assert check("src/store/run.c", '"core/job.h"') == 1
    assert check("src/when/cron.c", '"store/run.h"') == 1
    assert check("src/cli/main.c", '"core/job.h"') == 1
    assert check("src/program/run.c", '"cli/main.h"') == 1
    assert check("src/core/job.c", "<libpq-fe.h>") == 1
    assert check("src/store/sqlite.c", "<libpq-fe.h>") == 1
    assert check("src/core/job.c", '"job.h"') == 1
    assert check("include/alkstore/job.h", '"alkstore/base.h"') == 1


tap.main(sys.modules[__name__])
