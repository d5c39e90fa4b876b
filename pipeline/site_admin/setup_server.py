"""Serves the setup pages on this machine only, until the setup is finished.

A container publishes its port on this machine, so the image sets PLUMB_SETUP_HOST to 0.0.0.0. Access still needs the
token of the link and a Host header that names this machine.
"""

import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

from pipeline.logs import configure_logging, ensure_folder
from pipeline.search_site.search_app import load_or_create_secret
from pipeline.search_site.serve import open_listening_socket
from pipeline.search_site.waitress_worker import create_server, poll_once, stop_server
from pipeline.settings import Settings
from pipeline.site_admin.setup_backend import FolderSetup
from search_ui.setup.access import SetupAccess
from search_ui.setup.setup_app import create_setup_app

LOOPBACK = "127.0.0.1"  # whatever the settings say: there is no account yet
HOST_VARIABLE = "PLUMB_SETUP_HOST"
THREADS = 8
POLL_SECONDS = 0.2
STOP_TIMEOUT_SECONDS = 5.0


def run_setup(
    settings: Settings, config_file: Path, print_line: Callable[[str], None], starts_run: bool = True
) -> socket.socket:
    """Serve the setup pages until the settings file is written and, if `starts_run`, the first run is started.

    Args:
        settings: Defaults with the overrides of this call; their folder is that of the new vertical.
        config_file: The settings file to write.
        print_line: Prints a line for the person at the terminal.

    Returns:
        A listening socket for the search site. Connections that arrive before the site accepts them wait in it.

    Raises PortInUseError, or StoreError if the data folder is not writable.
    """
    ensure_folder(settings.data_dir / "logs")
    configure_logging(settings.data_dir / "logs" / "plumb.log")
    host = os.environ.get(HOST_VARIABLE, LOOPBACK)
    listening_socket = open_listening_socket(host, settings.search.port)
    port = listening_socket.getsockname()[1]
    backend, finished = FolderSetup(settings, config_file, starts_run), threading.Event()
    access = SetupAccess(port, backend.cookie_digest, backend.save_cookie_digest)
    secret_key = load_or_create_secret(settings.data_dir / "session.key")
    server = create_server(listening_socket, create_setup_app(backend, access, secret_key, finished), THREADS)
    print_line(
        f"{config_file.name} does not exist. To set up a search engine in this folder, open this link in a browser:"
    )
    print_line(f"http://{LOOPBACK}:{port}/setup?token={access.token}")
    print_line(f"The link works once and only on this machine; from another one: ssh -L {port}:{LOOPBACK}:{port} HOST")
    while not finished.is_set():
        poll_once(server, POLL_SECONDS)
    stop_server(server, time.monotonic() + STOP_TIMEOUT_SECONDS)
    if settings.search.host == host:
        return listening_socket
    listening_socket.close()
    return open_listening_socket(settings.search.host, port)
