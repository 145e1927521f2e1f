"""Serve SeaweedFS's gateway for Kafka with its own servers and an empty schema registry until SIGTERM: gateway.py WEED."""

import http.server
import signal
import subprocess
import sys
import tempfile
import threading
import time

SERVER = (
    "-master.port=19333",
    "-volume.port=18080",
    "-filer",
    "-filer.port=18888",
    "-mq.broker",
    "-mq.broker.port=17777",
)
GATEWAY = (
    "-port=19092",
    "-master=127.0.0.1:19333",
    "-default-partitions=1",
    "-schema-registry-url=http://127.0.0.1:18085",
)
LOCAL = ("-ip=127.0.0.1", "-ip.bind=127.0.0.1")


class Registry(http.server.BaseHTTPRequestHandler):
    """A schema registry without schemas: the gateway does not start without one."""

    def do_GET(self) -> None:
        """Answer an empty list."""
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def main(weed: str) -> None:
    """Start all, and the gateway again until the broker of messages is ready for it."""
    registry = http.server.ThreadingHTTPServer(("127.0.0.1", 18085), Registry)
    threading.Thread(target=registry.serve_forever, daemon=True).start()
    started: list[subprocess.Popen[bytes]] = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory() as folder:
        try:
            options = (f"-dir={folder}", "-master.telemetry=false", "-master.volumeSizeLimitMB=64", *LOCAL)
            started.append(_quiet(weed, "server", *options, *SERVER))
            for _ in range(12):
                started.append(_quiet(weed, "mq.kafka.gateway", *LOCAL, *GATEWAY))
                time.sleep(10)
                if started[-1].poll() is None:
                    print("127.0.0.1:19092", flush=True)
                    started[-1].wait()
        finally:
            for each in started:
                each.kill()
                each.wait()


def _quiet(*command: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main(sys.argv[1])
