"""Creates Solr's security.json: the accounts of a SolrCloud, stored in its ZooKeeper for all nodes.

    security_json("plumb", password)    # one account with all permissions; no access without it

Nodes authenticate to each other with their own keys (Solr's PKIAuthenticationPlugin), so no password is sent between
them.
"""

import base64
import hashlib
import json
import os
import sys
from collections.abc import Sequence

SALT_BYTES = 32


def security_json(user: str, password: str, salt: bytes | None = None) -> str:
    """Return a security.json with one account, for Solr's BasicAuthPlugin and RuleBasedAuthorizationPlugin.

    `salt` is random by default.
    """
    document = {
        "authentication": {
            "class": "solr.BasicAuthPlugin",
            "blockUnknown": True,
            "forwardCredentials": False,
            "realm": "plumbline",
            "credentials": {user: hash_credential(password, os.urandom(SALT_BYTES) if salt is None else salt)},
        },
        "authorization": {
            "class": "solr.RuleBasedAuthorizationPlugin",
            "permissions": [{"name": "all", "role": "admin"}],
            "user-role": {user: ["admin"]},
        },
    }
    return json.dumps(document, indent=2) + "\n"


def hash_credential(password: str, salt: bytes) -> str:
    """Hash a password in Solr's format: SHA-256 of SHA-256 of salt and password, a blank, the salt; both in base64.

    >>> hash_credential("SolrRocks", base64.b64decode("Ndd7LKvVBAaZIF0QAVi1ekCfAJXr1GGfLtRUXhgrF8c="))
    'IV0EHq1OnNrj6gvRCwvFwTrZ1+z1oBbnQdiVC3otuq0= Ndd7LKvVBAaZIF0QAVi1ekCfAJXr1GGfLtRUXhgrF8c='
    """
    digest = hashlib.sha256(hashlib.sha256(salt + password.encode()).digest()).digest()
    return f"{base64.b64encode(digest).decode()} {base64.b64encode(salt).decode()}"


def main(arguments: Sequence[str]) -> int:
    """Run `python -m indexer.cluster.security USER < PASSWORD`: print security.json; return the exit status."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m indexer.cluster.security USER < file-with-the-password > security.json\n")
        return 2
    password = sys.stdin.readline().rstrip("\n")
    if not password:
        sys.stderr.write("no password on standard input: write it to a file that only you can read\n")
        return 2
    sys.stdout.write(security_json(arguments[0], password))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
