"""The secret of an embedded Solr: made once, kept beside it for its owner alone, asked for by Jetty and by ZooKeeper.

Other users of the machine can open its ports, and so can a page in a browser; neither gets past them without it. Jetty
takes it as HTTP Basic, for which the URL of the node names it; ZooKeeper as SASL DIGEST-MD5, and else serves nothing.
Solr itself knows it too, for the requests that it sends to itself. What stands in `home/secret/`, mode 0600:

    secret             the secret
    jetty.properties   who may ask Jetty
    solr.properties    what Solr sends itself
    jaas.conf          who may ask ZooKeeper, and what Solr says there
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path

USER = "plumb"
FOLDER = "secret"
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
DIGEST = "org.apache.zookeeper.server.auth.DigestLoginModule required"


def secret_of(home: Path) -> str:
    """The secret of the node in `home`; "" before its first start, or of an older program. OSError where it cannot be
    read."""
    try:
        return (home / FOLDER / "secret").read_text().strip()
    except FileNotFoundError:
        return ""


def prepare_secret(home: Path) -> None:
    """Make the secret if there is none, write the files that Java reads, and shut `home` to others. Raises OSError."""
    home.chmod(PRIVATE_FOLDER)
    folder = home / FOLDER
    folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    if not secret_of(home):
        write_private(folder / "secret", secrets.token_hex(32))
    secret = secret_of(home)
    write_private(folder / "jetty.properties", f"{USER}: {secret},{USER}\n")
    write_private(folder / "solr.properties", f"httpBasicAuthUser={USER}\nhttpBasicAuthPassword={secret}\n")
    server = f'Server {{\n {DIGEST} user_{USER}="{secret}";\n}};\n'
    client = f'Client {{\n {DIGEST} username="{USER}" password="{secret}";\n}};\n'
    write_private(folder / "jaas.conf", server + client)


def java_properties(home: Path) -> dict[str, object]:
    """The system properties by which Java finds the files; none of them holds the secret, for all can see them."""
    folder = home / FOLDER
    return {
        "plumbline.users": folder / "jetty.properties",
        "solr.httpclient.builder.factory": "org.apache.solr.client.solrj.impl.PreemptiveBasicAuthClientBuilderFactory",
        "solr.httpclient.config": folder / "solr.properties",
        "java.security.auth.login.config": folder / "jaas.conf",
        "zookeeper.authProvider.sasl": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
        "zookeeper.fips-mode": "false",  # else it knows no DIGEST-MD5
        "zookeeper.enforce.auth.enabled": "true",
        "zookeeper.enforce.auth.schemes": "sasl",
    }


def write_private(path: Path, text: str) -> None:
    """Put a file in place whole, for its owner alone."""
    beside = path.with_suffix(".new")
    with suppress(FileNotFoundError):
        beside.unlink()
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "w") as file:
        file.write(text)
    beside.replace(path)
