"""Importing evergrep does nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from textwrap import dedent

import pytest

WATCHED_IMPORT = """
    import json, os, sys, threading

    seen = []
    quiet = False

    class Told(dict):
        pass

    def telling(name):
        def tell(self, *arguments):
            seen.append(" ".join(["environment", *map(str, arguments[:1])]))
            return getattr(dict, name)(self, *arguments)
        return tell

    for name in ("__getitem__", "get", "__contains__", "__iter__", "keys", "items", "copy"):
        setattr(Told, name, telling(name))

    def hook(event, arguments):
        if quiet:
            return
        if event == "open":
            path, mode, flags = arguments
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                seen.append(f"write {path}")
        elif event.split(".")[0] in ("socket", "subprocess", "shutil", "tempfile", "ctypes"):
            seen.append(event)
        elif event in ("os.exec", "os.fork", "os.posix_spawn", "os.system", "os.mkdir", "os.remove",
                       "os.rename", "os.putenv", "_thread.start_new_thread"):
            seen.append(event)

    import importlib.machinery
    os.environ = Told(os.environ)
    threads = len(os.listdir("/proc/self/task"))
    sys.addaudithook(hook)
    STATEMENT
    quiet = True
    seen += [f"threads {len(os.listdir('/proc/self/task'))}"] * (
        len(os.listdir("/proc/self/task")) != threads
    )
    heavy = ("asyncio", "mcp", "argparse", "logging", "evergrep.cli", "evergrep.mcp", "socket")
    seen += [f"module {name}" for name in heavy if name in sys.modules]
    print(json.dumps(seen), file=sys.__stderr__)
"""


def import_effects(statement: str) -> tuple[str, list[str]]:
    """What a process prints, and does beside, while it runs a statement."""
    program = dedent(WATCHED_IMPORT).replace("STATEMENT", statement)
    done = subprocess.run(
        [sys.executable, "-B", "-s", "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(done.stderr)


def test_importing_the_package_has_no_effect() -> None:
    """No output, no file, no environment, no thread, no network, nothing slow (house plan, 11)."""
    assert import_effects("import evergrep") == ("", [])


@pytest.mark.parametrize(
    ("statement", "effect"),
    [
        ("open('/dev/null', 'w').close()", "write /dev/null"),
        ("os.environ.get('HOME')", "environment HOME"),
        ("threading.Thread(target=threading.Event().wait, daemon=True).start()", "threads 2"),
        ("import asyncio", "module asyncio"),
        ("import argparse", "module argparse"),
        ("import socket; socket.socket()", "socket.__new__"),
        ("import subprocess; subprocess.run(['true'])", "subprocess.Popen"),
    ],
)
def test_an_effect_of_an_import_is_caught(statement: str, effect: str) -> None:
    """Each is something that the check above must see."""
    assert effect in import_effects(statement)[1]


def test_output_of_an_import_is_caught() -> None:
    """A word on standard output would break a protocol that is spoken there."""
    assert import_effects("print('word')")[0] == "word\n"
