"""Checks that the few tools a fresh machine must have are there, and names the line for each."""

import shutil
import sys

NEEDED = {
    "cargo": (
        "Rust 1.88 or newer",
        "install it from https://rustup.rs, or with your system's package manager",
    ),
    "cc": (
        "a C compiler and linker",
        "Debian and Ubuntu: apt install build-essential; macOS: xcode-select --install",
    ),
}


def main() -> int:
    missing = []
    if sys.version_info < (3, 11):  # noqa: UP036  (it is run by whatever python3 there is)
        missing.append(
            f"Python 3.11 or newer (this is {sys.version.split()[0]}): "
            "name another with  make PYTHON=/path/to/python3.11"
        )
    for program, (what, line) in NEEDED.items():
        if shutil.which(program) is None:
            missing.append(f"{what} ({program}): {line}")
    for each in missing:
        print(f"missing: {each}", file=sys.stderr)
    return 1 if missing else 0


sys.exit(main())
