"""Test programs in Python: functions whose names are sentences, results as TAP for scripts/run-tests."""
import pathlib
import sys
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Skip(Exception):
    """Raised by a test that cannot be made here."""


def main(module, setup=lambda: None):
    """Runs the test_ functions of module, in the order they are written, after setup."""
    tests = [(name[5:], test) for name, test in vars(module).items() if name.startswith("test_")]
    print(f"1..{len(tests)}", flush=True)
    failed = 0
    setup()
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except Skip as reason:
            print(f"ok {number} # SKIP {name}: {reason}", flush=True)
        except Exception:  # whatever it is, the others run
            failed += 1
            print("".join("# " + line + "\n" for line in traceback.format_exc().splitlines()), end="")
            print(f"not ok {number} - {name}", flush=True)
    sys.exit(1 if failed else 0)
