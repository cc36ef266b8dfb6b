"""Exported scripts run as they are, with programs that are functions of the same shell and ask one server.

A script of some hundred commands starts hardly any process: ssh, sleep and all that runs on hosts are
functions, which talk over one connection with what answers for the hosts. Where a remote text is more than
one list of commands, a shell of its own runs it, for the sake of its `set -e`.
"""

from __future__ import annotations

import re
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ndbplan.base.quoting import shell_quoted

Answer = Callable[[int, str, list[str]], tuple[str, str]]
"""Line of the script, host and words of a command to its exit status (or `die`) and what it prints."""

_PROGRAMS = (
    "ndb_waiter", "ndb_desc", "ndb_index_stat", "ndb_show_tables", "mysqld", "mysql_install_db",
    "mysql_upgrade", "mysqldump",
    "systemctl", "ls", "touch", "find", "ln", "mv", "rm", "cp", "mountpoint", "test", "stat", "readlink",
    "mkdir", "useradd", "id", "chmod", "tar", "dnf", "apt-get", "dpkg", "grep", "sysctl", "udevadm",
    "systemd-tmpfiles", "/usr/sbin/ndbmtd", "service", "/usr/sbin/ndbd", "/usr/sbin/ndb_mgmd",
    "/usr/sbin/mysqld", "apparmor_parser", "selinuxenabled", "getsebool", "setsebool",
    "restorecon",
)  # fmt: skip
_FUNCTIONS = r"""
call() {
  local code text
  # The line of the script: the last but one caller is what reads it in.
  printf '%s\0' "$(($# + 2))" "${STUB_LINE:-${BASH_LINENO[-2]}}" "${STUB_HOST:-here}" "$@" >&9
  IFS= read -r -d ' ' code <&9
  IFS= read -r -d '' text <&9 || true
  [[ $code != die ]] || kill -KILL 0
  printf '%s' "$text"
  return "$code"
}
sleep() { call sleep "$1"; }
timeout() { shift; "$@"; }
remote_functions() {
  install() {
    local text=
    if [[ " $* " == *" /dev/stdin "* ]]; then IFS= read -r -d '' text || true; fi
    call install "$@" "stdin:$text"
  }
  tee() {
    local text
    IFS= read -r -d '' text || true
    call tee "$@" "stdin:$text"
  }
  bash() { eval "$2"; }
  cat() { call cat "$@"; }
  with_password() {
    local text
    if [[ $* != *--backup-password-from-stdin* ]]; then call "$@"
    else IFS= read -r text && call "$@" "stdin:$text"; fi
  }
  ndb_mgm() { with_password ndb_mgm "$@"; }
  ndb_restore() { with_password ndb_restore "$@"; }
  cksum() { call cksum "$@"; }
  mysql() {
    local text=
    if [[ $1 == --version ]]; then
      call mysql --version
      return
    elif [[ $1 == --defaults-file=* ]]; then
      IFS= read -r -d '' text <"${1#*=}" || true
      # Whatever the options say, a login path of root comes last.
      [[ $HOME == /nonexistent ]] || text=$'user="root"\npassword=""'
    elif [[ $* != *--execute=* ]]; then
      IFS= read -r -d '' text || true
    fi
    call mysql "$@" "sql:$text"
  }
"""
_HERE = r"""
}
cksum() { local text; IFS= read -r -d '' text || true; call cksum_text "$text"; }
ssh() {
  local code=0 text bare
  until [[ $1 == -- ]]; do shift; done
  local -x STUB_HOST=${2#*@} STUB_LINE=${BASH_LINENO[-2]}
  shift 2
  call _reach || return
  if [[ $* == */var/lock/ndb-runbook* ]]; then
    call _hold
    # As long as the script has it open.
    command cat >/dev/null
    return
  fi
  if [[ $1 == sudo ]]; then shift 3; elif [[ $ssh_user != root ]]; then return 1; fi
  [[ $1 != PATH=* ]] || shift
  if [[ $1 == bash && $2 != -c ]]; then
    IFS= read -r -d '' text || true
    # Nor what `work` does: nothing else is under way there.
    if [[ $text == 'if command -v flock '* ]]; then
      text=${text#*$'fi\n{ '}
      text=${text%$'\n} 8>&-'*}
    fi
    # What `on` puts around a command needs no shell of its own.
    bare=${text/; then printf \'%s\\n\' \'   it is so already\'; else /}
    if [[ $text != "printf '%s\\n' "* && ${bare%; fi*} == *';'* ]]; then
      { declare -f call timeout remote_functions; printf 'remote_functions\n%s' "$text"; } |
        bash -euo pipefail -s || code=$?
    else
      (remote_functions; eval "$text") || code=$?
    fi
  else
    # As ssh does it: a shell there reads the words once more.
    (remote_functions; eval "$*") || code=$?
  fi
  call _after_command || return
  return "$code"
}
"""


def is_option_of(script: Path, part: str, option: str) -> bool:
    """Whether a script says that a part of it takes an option."""
    line = re.search(rf"^  --{option} +([a-z].*)$", script.read_text(), re.MULTILINE)
    return line is not None and part in line[1].split(", ")


def run_script(
    answer: Answer, script: Path, *words: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A script with the stub programs, each of which does what `answer` says; its stdout and stderr."""
    ours, theirs = socket.socketpair()
    talk = threading.Thread(target=_talk, args=(ours, answer))
    with ours:
        with theirs:
            start = f"exec 9<&{theirs.fileno()}; {_with_programs(script)}"
            started = subprocess.Popen(
                ["bash", "-c", start, str(script), str(script), *words],
                env={"PATH": "/usr/bin:/bin", "HOME": str(script.parent), "USER": "operator",
                     **(environment or {})},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                pass_fds=(theirs.fileno(),), start_new_session=True,
            )  # fmt: skip
        talk.start()
        printed = started.communicate(timeout=600)
        talk.join()
    return subprocess.CompletedProcess(started.args, started.returncode, *printed)


@contextmanager
def runnable(answer: Answer, script: Path) -> Iterator[Path]:
    """A program that runs a script as `run_script` does, for another program to start."""
    program = script.parent.parent / "run"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        start = f"exec 9<>/dev/tcp/127.0.0.1/{listener.getsockname()[1]}; {_with_programs(script)}"
        words = " ".join(map(shell_quoted, (start, str(script), str(script))))
        program.write_text(f'#!/bin/bash\nexec bash -c {words} "$@"\n')
        program.chmod(0o755)
        serve = threading.Thread(target=_serve, args=(listener, answer))
        serve.start()
        try:
            yield program
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            serve.join()


def _serve(listener: socket.socket, answer: Answer) -> None:
    """One script after the other, until nobody listens any more."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            _talk(connection, answer)


def _with_programs(script: Path) -> str:
    """What a shell does to run a script with the stub programs, once it talks to their server."""
    programs = script.parent.parent / "programs.sh"
    if not programs.exists():
        remote = "\n".join(f'  {name}() {{ call {name} "$@"; }}' for name in _PROGRAMS)
        programs.write_text(_FUNCTIONS + remote + _HERE)
    return f'. {shell_quoted(str(programs))}; script=$1; shift; BASH_ARGV0=$script; . "$script"'


def _talk(connection: socket.socket, answer: Answer) -> None:
    """What a script and the shells that it starts ask, one command after the other, until they end."""
    left, words = b"", list[str]()
    while received := connection.recv(65536):
        *found, left = (left + received).split(b"\0")
        words += (word.decode() for word in found)
        if words and len(words) > int(words[0]):
            _, line, host, *command = words
            words = []
            try:
                code, text = answer(int(line), host, command)
            except BaseException:
                connection.shutdown(socket.SHUT_RDWR)
                raise
            connection.sendall(f"{code} {text}\0".encode())
