"""What the operating systems of an acted cluster do: files, users, installed programs."""

from __future__ import annotations

import itertools
import re
import zlib
from fnmatch import fnmatch

from exporting.acted_state import ActedState, RefusedError

_CONFINES = "/etc/apparmor.d/"
_NOT_EVERYWHERE = ("/etc/sysctl.d", "/etc/tmpfiles.d", "/etc/udev/rules.d")
"""Folders that a host need not have, as small images of systems have none of udev."""


class ActedFiles(ActedState):
    """The programs of an operating system, on every host."""

    def _exists(self, host: str, path: str) -> bool:
        return bool(self._inside(host, path.rstrip("/")))

    def _inside(self, host: str, path: str) -> list[str]:
        """A file or folder with everything in it."""
        return [p for h, p in self.files if h == host and (p == path or p.startswith(f"{path}/"))]

    def lose(self, host: str) -> None:
        """A machine is gone, and an empty one has its name."""
        self.files = {place: text for place, text in self.files.items() if place[0] != host}
        self.enabled = {place for place in self.enabled if place[0] != host}
        self.executable = {place for place in self.executable if place[0] != host}
        self.units = {place: text for place, text in self.units.items() if place[0] != host}
        self.releases[host] = ""
        self.users.discard(host)
        for process in self.processes():
            if process.host == host:
                self.accounts.pop(process.node_id, None)
                process.active, process.ends_at = False, None

    def _version(self, host: str, program: str) -> str:
        if program == "systemctl":
            return f"systemd {self.systemd} ({self.systemd}.1)\n+PAM -SELINUX\n"
        if not (release := self.releases.get(host)):
            raise RefusedError(f"{program}: No such file or directory\n", 127)
        name = "Ver" if program.endswith("mysqld") else "MySQL distrib mysql-1.1.1"
        return f"{name} {release}\n" if name == "Ver" else f"{name} ndb-{release}, for linux\n"

    def _dnf(self, host: str, _words: list[str]) -> str:
        """Packages are text files that say their release."""
        [place] = [p for h, p in self.files if h == host and re.search("/ndb-programs/.*[.](rpm|deb|gz)$", p)]
        self.releases[host] = self.files[host, place].strip()
        return ""

    _tar = _dnf

    def _apt_get(self, host: str, words: list[str]) -> str:
        """These packages start their server, and are not upgraded beside one that looks like it."""
        runs = [one for one in self.processes() if one.host == host and one.active]
        if self.releases.get(host) and any(one.is_shown_as_packaged for one in runs):
            raise RefusedError("new pre-installation script subprocess returned error exit status 1\n", 100)
        self.packaged.add(host)
        self.files[host, f"{_CONFINES}usr.sbin.mysqld"] = "/etc/mysql/** r,\n/var/lib/mysql/** rwk,\n"
        self.files[host, "/sys/kernel/security/apparmor/profiles"] = ""
        self._apparmor_parser(host, [])
        self.files[host, "/etc/init.d/mysql"] = "the script of packages"
        self.executable.add((host, "/etc/init.d/mysql"))
        return self._dnf(host, words)

    def _apparmor_parser(self, host: str, _words: list[str]) -> str:
        """What is loaded counts, not what lies there."""
        names = (f"{_CONFINES}{name}usr.sbin.mysqld" for name in ("", "local/"))
        rules = "".join(self.files.get((host, name), "") for name in names)
        self.confined[host] = {rule for rule in rules.splitlines() if rule[0] != "#"}
        return ""

    def _is_let_in(self, host: str, path: str) -> bool:
        """Whether AppArmor lets mysqld have a file."""
        rules = self.confined.get(host)
        patterns = (rule.rpartition(" ")[0].strip('"') for rule in rules or ("/** rwk,",))
        return any(fnmatch(path, one) for one in patterns)

    def _selinuxenabled(self, host: str, _words: list[str]) -> str:
        if host not in self.selinux:
            raise RefusedError("", 1)
        return ""

    def _getsebool(self, host: str, words: list[str]) -> str:
        return f"{words[0]} --> {self.selinux[host]}\n"

    def _setsebool(self, host: str, words: list[str]) -> str:
        assert words[:2] == ["-P", "mysql_connect_any"]
        self.selinux[host] = words[2]
        return ""

    def _restorecon(self, host: str, words: list[str]) -> str:
        assert self._exists(host, words[-1]) or words[-1].startswith("/opt/ndb-"), words
        return ""

    def _tee(self, host: str, words: list[str]) -> str:
        assert words[0] == "-a"
        text = words[-1].removeprefix("stdin:")
        self.files[host, words[1]] = self.files.get((host, words[1]), "") + text
        return text

    def _dpkg(self, _host: str, _words: list[str]) -> str:
        return ""

    def _id(self, host: str, _words: list[str]) -> str:
        if host not in self.users:
            raise RefusedError("no such user\n")
        return "uid=27(mysql)\n"

    def _chmod(self, host: str, words: list[str]) -> str:
        assert self._exists(host, words[-1])
        assert words[0] == "0755"
        self.executable.add((host, words[-1]))
        return ""

    def _useradd(self, host: str, _words: list[str]) -> str:
        self.users.add(host)
        return ""

    def _test(self, host: str, words: list[str]) -> str:
        if len(words) == 3 and words[1] == "=":
            if words[0] != words[2]:
                raise RefusedError("")
            return ""
        if len(words) == 3 and words[1] == "-eq":
            return self._test(host, [words[0], "=", words[2]])
        if len(words) == 3 and words[1] == "-ge":
            return self._test(host, [f"{int(words[0]) >= int(words[2])}", "=", "True"])
        negated = words[0] == "!"
        flag, path = words[-2:]
        if flag in ("-n", "-z"):
            if bool(path) != (flag == "-n"):
                raise RefusedError("")
            return ""
        if path == "/run/systemd/system":
            if self._is_init(host) != negated:
                raise RefusedError("")
            return ""
        is_link = self.files.get((host, path), "").startswith("-> ")
        found = {
            "-L": is_link,
            "-x": (host, path) in self.executable and self._exists(host, path),
        }.get(flag, self._exists(host, path))
        if found == negated:
            raise RefusedError("")
        return ""

    def _install(self, host: str, words: list[str]) -> str:
        path, text = words[-2], words[-1].removeprefix("stdin:")
        if "-d" in words:
            told = dict(itertools.pairwise(words))
            owner = f"{told['-o']}:{told['-g']}:{told['-m'].lstrip('0')}" if "-o" in told else ""
            self.files[host, f"{path.rstrip('/')}/"] = owner
        else:
            folder = path.rpartition("/")[0]
            if folder in _NOT_EVERYWHERE and (host, f"{folder}/") not in self.files:
                raise RefusedError(f"install: cannot create regular file '{path}'", 1)
            self.files[host, path] = text
            self.executable.discard((host, path))
        return ""

    def _cat(self, host: str, words: list[str]) -> str:
        return self.files[host, words[-1]]

    def _stat(self, host: str, words: list[str]) -> str:
        if "%s" in words:
            return f"{len(self.files[host, words[-1]].encode())}\n"
        return self.files.get((host, f"{words[-1].rstrip('/')}/"), "stat: No such file") + "\n"

    def _readlink(self, host: str, words: list[str]) -> str:
        return self.files.get((host, words[-1]), "").removeprefix("-> ") + "\n"

    def _sysctl(self, host: str, words: list[str]) -> str:
        if words[0] == "-n":
            return self.files.get((host, f"/proc/{words[1]}"), "60") + "\n"
        assert words[0] == "-p", "older ones know no --load"
        for line in self.files[host, words[1]].splitlines():
            if line[0] != "#":
                name, _, value = line.partition(" = ")
                self.files[host, f"/proc/{name}"] = value
        return ""

    def _systemd_tmpfiles(self, host: str, words: list[str]) -> str:
        _, path, *_, value = self.files[host, words[-1]].splitlines()[-1].split()
        self.files[host, path] = f"always [{value}] never"
        return ""

    def _udevadm(self, host: str, words: list[str]) -> str:
        if words[0] == "trigger":
            assert any(path.startswith("/etc/udev/rules.d/") for at, path in self.files if at == host)
            self.files[host, "/sys/block/*/queue/scheduler"] = "[none] mq-deadline"
        return ""

    def _grep(self, host: str, words: list[str]) -> str:
        if words[0] == "-qsxF":
            if words[1] not in self.files.get((host, words[2]), "").splitlines():
                raise RefusedError("", 1)
            return ""
        path = "/sys/block/*/queue/scheduler" if words[0] == "-LF" else words[-1]
        found = any(word in self.files.get((host, path), "[kyber]") for word in words if word[0] == "[")
        if words[0] == "-LF":
            return "" if found else f"{path}\n"
        if not found:
            raise RefusedError("", 1)
        return ""

    def _mountpoint(self, _host: str, words: list[str]) -> str:
        return f"{words[-1]} is a mountpoint\n"

    def _ln(self, host: str, words: list[str]) -> str:
        self.files[host, words[-1]] = f"-> {words[-2]}"
        return ""

    def _mv(self, host: str, words: list[str]) -> str:
        source, target = words[-2:]
        moved = self._inside(host, source)
        if not moved or (self._exists(host, target) and words[0] != "-f"):
            raise RefusedError(f"mv: {source} -> {target} cannot be done\n")
        for path in moved:
            self.files[host, target + path[len(source) :]] = self.files.pop((host, path))
        return ""

    def _rm(self, host: str, words: list[str]) -> str:
        folder, _, inside = words[-1].rstrip("/").rpartition("/")
        for path in self._inside(host, folder if inside == "*" else words[-1].rstrip("/")):
            if inside == "*" and path.rstrip("/") == folder:
                continue
            del self.files[host, path]
        return ""

    def _ls(self, host: str, words: list[str]) -> str:
        for path in words:
            if not self._exists(host, path) and not any(
                h == host and fnmatch(p, path) for h, p in self.files
            ):
                raise RefusedError(f"ls: cannot access '{path}': No such file or directory\n", 2)
        if len(words) == 1 and (inside := self._names_in(host, words[0])):
            return "\n".join(inside) + "\n"
        return "\n".join(words) + "\n"

    def _names_in(self, host: str, folder: str) -> list[str]:
        """What is in a folder, its own files and folders alone."""
        below = (path for at, path in self.files if at == host and path.startswith(f"{folder}/"))
        return sorted({path.removeprefix(f"{folder}/").partition("/")[0] for path in below} - {""})

    def _touch(self, host: str, words: list[str]) -> str:
        self.files.setdefault((host, words[-1]), "")
        return ""

    def _find(self, host: str, words: list[str]) -> str:
        """What is in a folder, deleted; or the folders in it with other names than those that are told."""
        if "-maxdepth" in words:
            named = [words[i + 2] for i, word in enumerate(words) if word == "!"]
            paths = (p.removeprefix(f"{words[0]}/").split("/")[:-1] for p in self._inside(host, words[0]))
            inside = {path[0] for path in paths if path}
            return "\n".join(d for d in inside if not any(fnmatch(d, name) for name in named))
        assert words[1:] == ["-mindepth", "1", "!", "-name", "lost+found", "-delete"]
        for path in self._inside(host, words[0]):
            if path.rstrip("/") != words[0]:
                del self.files[host, path]
        return ""

    def _cp(self, host: str, words: list[str]) -> str:
        source, target = words[-2:]
        for path in self._inside(host, source):
            self.files[host, target + path[len(source) :]] = self.files[host, path]
        return ""

    def _cksum(self, host: str, words: list[str]) -> str:
        return self._cksum_text(host, [self.files[host, words[-1]]]).strip() + f" {words[-1]}\n"

    def _cksum_text(self, _host: str, words: list[str]) -> str:
        content = words[0].encode()
        return f"{zlib.crc32(content)} {len(content)}\n"
