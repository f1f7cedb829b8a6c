"""Serves the site with live reload: `python -m sitetools.serve [PORT]`, what `make serve` runs."""

import socket
import subprocess
import sys

HOST = "127.0.0.1"


def busy(port: int) -> bool:
    """Tell whether something listens on the port already."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def main(arguments: list[str]) -> int:
    """Serve on the given port, or say in one line why not."""
    text = arguments[0] if arguments else "8000"
    if not text.isdecimal() or not 0 < int(text) < 65536:
        print(
            f"serve: PORT is a number from 1 to 65535, got {text}; try: make serve PORT=8001",
            file=sys.stderr,
        )
        return 2
    port = int(text)
    if busy(port):
        free = next((p for p in range(port + 1, min(port + 100, 65536)) if not busy(p)), None)
        another = f"make serve PORT={free}" if free else "make serve PORT=..."
        print(f"serve: port {port} is busy; try another: {another}", file=sys.stderr)
        return 2
    print(
        f"building the site; it will be at http://{HOST}:{port}/ "
        "(the first build runs the examples, later ones only those that changed)",
        flush=True,
    )
    try:
        return subprocess.call(
            [sys.executable, "-m", "mkdocs", "serve", "--dev-addr", f"{HOST}:{port}"]
        )
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
