"""Start the app, as `make run`, the command `attention-lab`, the browser tests and the benchmarks do.

python -m attention_lab [--host HOST] [--port PORT]
"""

import argparse
import ctypes
import errno
import ipaddress
import os
import socket
import sys
from pathlib import Path

import attention_lab

APP = Path(attention_lab.__path__[0]) / "app.py"


def main() -> None:
    parser = argparse.ArgumentParser(description="Start Attention Lab.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", default="8501")
    options = parser.parse_args()
    problem = why_not(options.host, options.port)
    if problem:
        sys.exit(problem)
    if not is_loopback(options.host):
        print(
            f"Warning: with HOST={options.host} everyone who can reach this machine can use the app; "
            "it has no password. Runs and files are their owners', and a teacher's: see SECURITY.md.",
            flush=True,
        )
    serve(options.host, int(options.port))


def command_that_sets(name: str, value: int) -> str:
    """The command with which a person sets something: of the repository, or of the installed package."""
    by_make = (APP.parent / "Makefile").exists()
    return f"make run {name}={value}" if by_make else f"attention-lab --{name.lower()} {value}"


def why_not(host: str, port: str) -> str | None:
    """One sentence that says why the app cannot listen on host:port and what to do, or None if it can."""
    if not (port.isdecimal() and 0 < int(port) < 65536):
        example = command_that_sets("PORT", 8502)
        return f"PORT={port} is not a port number; choose one from 1024 to 65535, e.g. {example}"
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, UnicodeError) as error:  # the latter of "evil..name", whose parts are none
        error_number = getattr(error, "errno", None)
        if error_number == errno.EADDRINUSE:
            return (
                f"Port {port} of {host} is busy; stop the program that uses it "
                "(is Attention Lab already running?) or choose another port, "
                f"e.g. {command_that_sets('PORT', int(port) % 65535 + 1)}"
            )
        if error_number == errno.EACCES:
            example = command_that_sets("PORT", 8501)
            return f"Port {port} is reserved for root; choose one from 1024 up, e.g. {example}"
        return (
            f"HOST={host[:80]} is not an address of this machine; "
            "use 127.0.0.1 (only you) or 0.0.0.0 (the whole network)"
        )
    return None


def is_loopback(host: str) -> bool:
    address = socket.getaddrinfo(host, None)[0][4][0]
    return ipaddress.ip_address(str(address).partition("%")[0]).is_loopback


def reuse_memory() -> None:
    """Keep the memory that a trace freed for the next trace; does nothing where malloc is not glibc's.

    Fresh memory comes from the system page by page, each filled with zeros: a fifth of the time of an answer
    on 512 tokens. All threads share one arena, so they hold less in all (mallopt(3)).
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt:
        trim_threshold, mmap_threshold, arena_max = -1, -3, -8
        for option, value in ((arena_max, 1), (mmap_threshold, 32 << 20), (trim_threshold, 64 << 20)):
            mallopt(option, value)


def serve(host: str, port: int) -> None:
    """Run Streamlit in this process until it is stopped."""
    # Each rerun is a new thread, in which PyTorch would start threads of its own: for small models, slower.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    reuse_memory()
    os.chdir(APP.parent)  # Streamlit reads .streamlit/config.toml from here
    from attention_lab.models.limits import in_force
    from attention_lab.pages.shared import on_offer, teachers
    from attention_lab.pages.shared.browser import descriptors, requests

    in_force()
    if not is_loopback(host) and not os.environ.get(teachers.HASH):
        print(
            "Without a teacher's secret whoever reaches this server may open halls and classes, and nobody "
            "but who opened one can close it: `make teacher` makes a secret.",
            flush=True,
        )
    try:  # what the limits, the teacher's hash or a site's name cannot mean is told before anything starts
        on_offer.check()
        teachers.configured()
        requests.framing_sites()
    except ValueError as error:
        sys.exit(str(error))
    from streamlit import net_util
    from streamlit.web import cli

    # Streamlit would ask an outside host for this machine's public address: for its banner if HOST is 0.0.0.0
    # and whenever a page of unknown origin tries to connect. Nothing here may leave the machine.
    net_util.get_external_ip = lambda: None
    print(f"Attention Lab: http://{f'[{host}]' if ':' in host else host}:{port}", flush=True)
    n_files, places = descriptors.allowed(), descriptors.places()
    print(f"It may open {n_files:,} files, enough for some {places:,} visitors at a time.", flush=True)
    sys.exit(cli.main(["run", str(APP), f"--server.address={host}", f"--server.port={port}"]))


if __name__ == "__main__":
    main()
