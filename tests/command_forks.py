"""Loads the command line once and forks for each command: to load it costs more than most of them.

A command is a process of its own: it has the files, folder, environment and arguments that it is
given.
"""

import contextlib
import gc
import json
import os
import socket
import sys

from ethos_registry._cli import app, main

for name in app._MODULES:
    app.load_command(name)
with contextlib.suppress(ImportError):  # without the extra, commands say so
    import ethos_registry.mcp  # noqa: F401
gc.freeze()
channel = socket.socket(fileno=int(sys.argv[1]))
while True:
    request, files, _, _ = socket.recv_fds(channel, 1 << 20, 3)
    if not request:
        break
    process = os.fork()
    if not process:
        channel.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        arguments, folder, variables = json.loads(request)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        sys.argv = ["ethos-registry", *arguments]
        sys.path[0] = folder
        sys.exit(main())
    for file in files:
        os.close(file)
    _, status = os.waitpid(process, 0)
    channel.send(str(os.waitstatus_to_exitcode(status)).encode())
