"""What a command tries in order to leave its sandbox: scripts by mechanism.

`{python}` is an interpreter, `{secret}` a file outside, `{outside}` its directory, `{pid}` a
process of the host that has the file open as descriptor 9 and its content in its environment and
its memory. A script succeeds if it prints the secret, or if what is outside has changed.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from typing import Literal

__all__ = ["ATTACKS", "SECRET", "CommandAttack", "missing_for"]

SECRET = "the secret of another process"
Need = Literal["root", "init", "python", "x86_64"]


@dataclass(frozen=True)
class CommandAttack:
    """A script, the mechanism that it uses, and what it needs to succeed without a sandbox."""

    mechanism: str
    script: str
    needs: tuple[Need, ...] = ()
    programs: tuple[str, ...] = ()
    reads: bool = True
    """Whether it prints the secret; else it changes what is outside, or the process."""
    metadata: bool = False
    """Whether Landlock does not cover it, as the documentation states."""


def _python(code: str, mechanism: str, **options: object) -> CommandAttack:
    script = f'{{python}} -I -c "{code}"'
    needs = ("python", *options.pop("needs", ()))  # type: ignore[misc]
    return CommandAttack(mechanism, script, needs=needs, **options)  # type: ignore[arg-type]


def _writes(mechanism: str, script: str, **options: object) -> CommandAttack:
    return CommandAttack(mechanism, script, reads=False, **options)  # type: ignore[arg-type]


_LIBC = "import ctypes,os; c=ctypes.CDLL(None,use_errno=True); "
_COPY_MEMORY = (
    "import ctypes,re; c=ctypes.CDLL(None,use_errno=True);\n"
    "class V(ctypes.Structure): _fields_=[('b',ctypes.c_void_p),('n',ctypes.c_size_t)]\n"
    "for line in open('/proc/{pid}/maps'):\n"
    "  a,b=(int(x,16) for x in line.split()[0].split('-'))\n"
    "  if not re.search(r'heap|stack', line): continue\n"
    "  t=ctypes.create_string_buffer(b-a)\n"
    "  l=V(ctypes.addressof(t),b-a); r=V(a,b-a)\n"
    "  c.process_vm_readv({pid},ctypes.byref(l),1,ctypes.byref(r),1,0)\n"
    "  m=re.search(rb'the secret of [a-z ]+', t.raw)\n"
    "  if m: print(m[0].decode())"
)

ATTACKS: dict[str, CommandAttack] = {
    # Reads of a path
    "cat": CommandAttack("a path outside", "cat {secret}"),
    "dd": CommandAttack("a path outside", "dd if={secret} 2>&1"),
    "by dot-dot": CommandAttack("dot-dot", "cat ../outside/secret.txt"),
    "through a link": CommandAttack("a symbolic link", "ln -s {secret} l; cat l"),
    "through a linked directory": CommandAttack(
        "a symbolic link to a directory", "ln -s {outside} d; cat d/secret.txt"
    ),
    "through a chain of links": CommandAttack(
        "a symbolic link", "ln -s {outside} b; ln -s b/secret.txt a; cat a"
    ),
    "through a hard link": CommandAttack("a hard link", "ln {secret} h; cat h"),
    "by a redirection": CommandAttack("an inherited descriptor", "cat < {secret}"),
    "by copying": CommandAttack("a copy", "cp {secret} c; cat c"),
    "by moving": CommandAttack("a rename", "mv {secret} m; cat m"),
    "by a tar of the directory": CommandAttack(
        "an archive", "tar cf - -C {outside} . | cat -v", programs=("tar",)
    ),
    "by git": CommandAttack(
        "a program that opens paths",
        "echo x > mine; git diff --no-index mine {secret}",
        programs=("git",),
    ),
    "as a script": CommandAttack(
        "an interpreter's error message", "{python} -I {secret}", needs=("python",)
    ),
    "by searching": CommandAttack("a search", "grep -r secret {outside}"),
    "by an interpreter": _python("print(open('{secret}').read())", "an interpreter"),
    "by a memory map": _python(
        "import mmap,os; f=os.open('{secret}',0); print(mmap.mmap(f,0,prot=1)[:])", "a memory map"
    ),
    "by sendfile": _python(
        "import os; f=os.open('{secret}',0); os.sendfile(1,f,0,100)", "sendfile"
    ),
    "by a directory descriptor": _python(
        "import os; d=os.open('{outside}',os.O_PATH); "
        "print(os.read(os.open('secret.txt',0,dir_fd=d),99))",
        "an O_PATH descriptor",
    ),
    "by fchdir": _python(
        "import os; os.chdir('{outside}'); print(open('secret.txt').read())",
        "a working directory outside",
    ),
    "by a thread": _python(
        "import threading; t=threading.Thread(target=lambda: print(open('{secret}').read())); "
        "t.start(); t.join()",
        "a thread",
    ),
    "by a child": _python(
        "import os; os.fork() or print(open('{secret}').read(), flush=True); os.wait()",
        "a child process",
    ),
    # Reads through /proc
    "through /proc/self/root": CommandAttack("/proc/self/root", "cat /proc/self/root{secret}"),
    "through /proc/1/root": CommandAttack(
        "/proc of init", "cat /proc/1/root{secret}", needs=("init",)
    ),
    "through the root of a process": CommandAttack(
        "/proc of a process of the host", "cat /proc/{pid}/root{secret}"
    ),
    "through every root": CommandAttack(
        "/proc of a process of the host", "for p in /proc/[0-9]*; do cat $p/root{secret}; done"
    ),
    "through a working directory": CommandAttack(
        "/proc/PID/cwd", "cat /proc/{pid}/cwd/../outside/secret.txt"
    ),
    "through a descriptor of a process": CommandAttack("/proc/PID/fd", "cat /proc/{pid}/fd/9"),
    "the environment of a process": CommandAttack("/proc/PID/environ", "cat /proc/{pid}/environ"),
    "the memory of a process": CommandAttack(
        "/proc/PID/mem",
        "grep -E 'heap|stack' /proc/{pid}/maps | while IFS=' -' read a b c; do "
        "dd if=/proc/{pid}/mem bs=4096 skip=$((0x$a/4096)) count=$(((0x$b-0x$a)/4096)); done "
        "2>/dev/null | grep -a -o 'the secret of another process' | head -n 1",
    ),
    "the memory of a process by a system call": _python(_COPY_MEMORY, "process_vm_readv"),
    # Reads by privileges
    "by a mount": CommandAttack(
        "a mount", "mkdir m; mount --bind {outside} m; cat m/secret.txt; umount m", needs=("root",)
    ),
    "in a namespace of its own": CommandAttack(
        "a user namespace",
        "unshare -Urm sh -c 'mount --bind {outside} /mnt; cat /mnt/secret.txt'",
        programs=("unshare",),
    ),
    "by chroot": CommandAttack("chroot", "chroot / cat {secret}", needs=("root",)),
    "by a setuid program": CommandAttack(
        "a setuid program", "su root -c 'cat {secret}'", needs=("root",), programs=("su",)
    ),
    "by the namespace of a process": CommandAttack(
        "setns", "nsenter -t {pid} -m cat {secret}", needs=("root",), programs=("nsenter",)
    ),
    # Writes
    "a new file": _writes("a new file", "echo x > {outside}/new"),
    "over the secret": _writes("an overwrite", "echo x > {secret}"),
    "appending": _writes("an append", "echo x >> {secret}"),
    "writing through a link": _writes(
        "a symbolic link to a directory", "ln -s {outside} d; echo x > d/new"
    ),
    "writing by dd": _writes("an overwrite", "echo y | dd of={secret} conv=notrunc"),
    "editing in place": _writes("a replaced file", "sed -i s/the/a/ {secret}"),
    "installing": _writes("a copy", "echo x > mine; install -m 755 mine {outside}/mine"),
    "unpacking": _writes(
        "an archive",
        "echo x > mine; tar cf a.tar mine; tar xf a.tar -C {outside}",
        programs=("tar",),
    ),
    "truncating": _writes("truncate", "truncate -s 0 {secret}"),
    "deleting": _writes("unlink", "rm -f {secret}"),
    "renaming": _writes("a rename", "mv {secret} {outside}/moved"),
    "moving in": _writes("a rename", "mv {secret} here"),
    "moving out": _writes("a rename", "echo x > mine; mv mine {outside}/mine"),
    "linking out": _writes("a hard link", "echo x > mine; ln mine {outside}/mine"),
    "a symbolic link outside": _writes("symlink", "ln -s / {outside}/l"),
    "a directory": _writes("mkdir", "mkdir {outside}/folder"),
    "removing a directory": _writes("rmdir", "rmdir {outside}/empty"),
    "a FIFO": _writes("mkfifo", "mkfifo {outside}/fifo"),
    "a device": _writes("mknod", "mknod {outside}/device c 1 3", needs=("root",)),
    "a socket": _python(
        "import socket; socket.socket(socket.AF_UNIX).bind('{outside}/s')",
        "a socket file",
        reads=False,
    ),
    "an unnamed file": _python(
        _LIBC + "f=os.open('{outside}',os.O_TMPFILE|os.O_WRONLY); os.write(f,b'x'); "
        "c.linkat(-100,b'/proc/self/fd/%d'%f,-100,b'{outside}/new',0x400)",
        "O_TMPFILE",
        reads=False,
    ),
    "truncating by a descriptor": _python(
        "import os; os.truncate('{secret}', 1)", "truncate", reads=False
    ),
    "writing by a memory map": _python(
        "import mmap,os; f=os.open('{secret}',2); m=mmap.mmap(f,0); m[0:1]=b'X'; m.flush()",
        "a memory map",
        reads=False,
    ),
    "writing by an interpreter": _python(
        "open('{outside}/new','w').write('x')", "an interpreter", reads=False
    ),
    "writing through /proc/1/root": _writes(
        "/proc of init", "echo x > /proc/1/root{outside}/new", needs=("init",)
    ),
    "writing through every root": _writes(
        "/proc of a process of the host",
        "for p in /proc/[0-9]*; do echo x > $p/root{outside}/new; done",
    ),
    "writing by a daemon": _writes(
        "a daemon", "setsid sh -c 'sleep 0.2; echo x > {outside}/new' & sleep 0.5"
    ),
    "writing in a namespace": _writes(
        "a user namespace", "unshare -Ur sh -c 'echo x > {outside}/new'", programs=("unshare",)
    ),
    # Metadata
    "the mode": _writes("chmod", "chmod 777 {secret}", metadata=True),
    "the mode of the directory": _writes("chmod", "chmod 700 {outside}", metadata=True),
    "the time": _writes("utime", "touch -d 2001-01-01 {secret}", metadata=True),
    "the owner": _writes("chown", "chown 1:1 {secret}", needs=("root",), metadata=True),
    # Processes
    "killing": _writes("a signal", "kill -KILL {pid}"),
    "stopping": _writes("a signal", "kill -STOP {pid}; sleep 0.1"),
    "killing everything": _writes("a signal to a group", "kill -s KILL -- -{pid}"),
    "tracing": _python(
        _LIBC + "print('the secret of another process' if c.ptrace(16,{pid},0,0)==0 else '')",
        "ptrace",
    ),
    "limiting": _writes("prlimit", "prlimit --pid {pid} --nofile=5:5", programs=("prlimit",)),
    "slowing": _writes("setpriority", "renice -n 7 -p {pid}", programs=("renice",)),
    "taking a descriptor": _python(
        _LIBC + "p=os.pidfd_open({pid}); f=c.syscall(438,p,9,0); print(os.pread(f,99,0))",
        "pidfd_getfd",
        needs=("x86_64",),
    ),
    "shared memory": _python(
        _LIBC + "c.shmat.restype=ctypes.c_void_p; i=c.shmget({key},0,0); a=c.shmat(i,None,0); "
        "print(ctypes.string_at(a,29) if i>=0 and a not in (None,2**64-1) else '')",
        "System V shared memory",
    ),
    "a message queue": _python(
        _LIBC + "b=ctypes.create_string_buffer(200); i=c.msgget({key},0); "
        "n=c.msgrcv(i,b,100,0,0o4000); print(b.raw[8:8+n] if n>0 else '')",
        "a System V message queue",
    ),
}
"""Each is tried at each level, and without a sandbox, where it has to succeed."""


def missing_for(attack: CommandAttack) -> str:
    """What this user or machine lacks for the attack to succeed; empty if nothing."""
    if "root" in attack.needs and os.geteuid() != 0:
        return "it needs root"
    if "init" in attack.needs and not _sees_init():
        return "this user cannot look into process 1"
    if "python" in attack.needs and not os.access(sys.executable, os.X_OK):
        return f"this user cannot run {sys.executable}"
    if "x86_64" in attack.needs and os.uname().machine != "x86_64":
        return "it needs an x86_64 processor"
    gone = [name for name in attack.programs if shutil.which(name) is None]
    return f"{gone[0]} is not installed" if gone else ""


def _sees_init() -> bool:
    try:
        return os.path.samefile("/proc/1/root/var/tmp", "/var/tmp")
    except OSError:
        return False
