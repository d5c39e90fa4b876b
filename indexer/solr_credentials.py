"""Credentials of an embedded Solr: created once, readable only by the owner, required by Jetty and ZooKeeper.

Other users of the machine, and pages in a browser, can connect to its ports; without the secret they get no access.
Jetty requires it as HTTP Basic authentication (the URL of the node contains it), ZooKeeper as SASL DIGEST-MD5. Solr
uses it for requests to itself. Files in `home/secret/`, mode 0600:

    secret             the secret
    jetty.properties   accounts of Jetty
    solr.properties    credentials of Solr for requests to itself
    jaas.conf          accounts of ZooKeeper, and the credentials of Solr for it
"""

import secrets
from pathlib import Path

from locks.private_files import write_private_file

SOLR_USER = "plumb"
SECRET_FOLDER = "secret"  # noqa: S105 (the name of a setting, no secret)
PRIVATE_FOLDER_MODE = 0o700
JAAS_DIGEST_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule required"


def read_secret(home: Path) -> str:
    """Return the secret of the node in `home`; an empty string before its first start and for older versions.

    Raises:
        OSError: The file cannot be read.
    """
    try:
        return (home / SECRET_FOLDER / "secret").read_text().strip()
    except FileNotFoundError:
        return ""


def ensure_secret_files(home: Path) -> None:
    """Create the secret if it is missing, write the files for Java, and make `home` private. Raises OSError."""
    home.chmod(PRIVATE_FOLDER_MODE)
    folder = home / SECRET_FOLDER
    folder.mkdir(mode=PRIVATE_FOLDER_MODE, exist_ok=True)
    if not read_secret(home):
        write_private_file(folder / "secret", secrets.token_hex(32).encode())
    secret = read_secret(home)
    write_private_file(folder / "jetty.properties", f"{SOLR_USER}: {secret},{SOLR_USER}\n".encode())
    solr_login = f"httpBasicAuthUser={SOLR_USER}\nhttpBasicAuthPassword={secret}\n"
    write_private_file(folder / "solr.properties", solr_login.encode())
    server = f'Server {{\n {JAAS_DIGEST_MODULE} user_{SOLR_USER}="{secret}";\n}};\n'
    client = f'Client {{\n {JAAS_DIGEST_MODULE} username="{SOLR_USER}" password="{secret}";\n}};\n'
    write_private_file(folder / "jaas.conf", (server + client).encode())


def secret_java_properties(home: Path) -> dict[str, object]:
    """Return the system properties that name the credential files.

    They do not contain the secret, because other users can read the command line of a process.
    """
    folder = home / SECRET_FOLDER
    return {
        "plumbline.users": folder / "jetty.properties",
        "solr.httpclient.builder.factory": "org.apache.solr.client.solrj.impl.PreemptiveBasicAuthClientBuilderFactory",
        "solr.httpclient.config": folder / "solr.properties",
        "java.security.auth.login.config": folder / "jaas.conf",
        "zookeeper.authProvider.sasl": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
        "zookeeper.fips-mode": "false",  # required for DIGEST-MD5
        "zookeeper.enforce.auth.enabled": "true",
        "zookeeper.enforce.auth.schemes": "sasl",
    }
