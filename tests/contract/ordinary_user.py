"""Run Python without root's power to pass over permission bits: `ordinary_user.py ARGUMENTS`.

Root gives up the two capabilities that let it read what a mode forbids, for good; anyone else
runs on unchanged. Not `setuid` to nobody: where the interpreter lies in root's own home, which
is closed to others, that user could not even start it.
"""

import ctypes
import os
import sys

PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2

if os.geteuid() == 0:
    system = ctypes.CDLL(None, use_errno=True)
    for power in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        if system.prctl(PR_CAPBSET_DROP, power, 0, 0, 0) != 0:
            sys.exit(f"root can't give up its powers: {os.strerror(ctypes.get_errno())}")
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
