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

SOLR_USER = "plumb"
SECRET_FOLDER = "secret"
PRIVATE_FOLDER_MODE, PRIVATE_FILE_MODE = 0o700, 0o600
JAAS_DIGEST_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule required"


def read_secret(home: Path) -> str:
    """The secret of the node in `home`; "" before its first start, or of an older program. OSError where it cannot be
    read."""
    try:
        return (home / SECRET_FOLDER / "secret").read_text().strip()
    except FileNotFoundError:
        return ""


def ensure_secret_files(home: Path) -> None:
    """Make the secret if there is none, write the files that Java reads, and shut `home` to others. Raises OSError."""
    home.chmod(PRIVATE_FOLDER_MODE)
    folder = home / SECRET_FOLDER
    folder.mkdir(mode=PRIVATE_FOLDER_MODE, exist_ok=True)
    if not read_secret(home):
        write_private_file(folder / "secret", secrets.token_hex(32))
    secret = read_secret(home)
    write_private_file(folder / "jetty.properties", f"{SOLR_USER}: {secret},{SOLR_USER}\n")
    write_private_file(folder / "solr.properties", f"httpBasicAuthUser={SOLR_USER}\nhttpBasicAuthPassword={secret}\n")
    server = f'Server {{\n {JAAS_DIGEST_MODULE} user_{SOLR_USER}="{secret}";\n}};\n'
    client = f'Client {{\n {JAAS_DIGEST_MODULE} username="{SOLR_USER}" password="{secret}";\n}};\n'
    write_private_file(folder / "jaas.conf", server + client)


def secret_java_properties(home: Path) -> dict[str, object]:
    """The system properties by which Java finds the files; none of them holds the secret, for all can see them."""
    folder = home / SECRET_FOLDER
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


def write_private_file(path: Path, text: str) -> None:
    """Put a file in place whole, for its owner alone."""
    temp_path = path.with_suffix(".new")
    with suppress(FileNotFoundError):
        temp_path.unlink()
    with os.fdopen(os.open(temp_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE_MODE), "w") as file:
        file.write(text)
    temp_path.replace(path)
