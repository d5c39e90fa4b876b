"""Signed links for followers, who have no account: the signature shows that a link came by mail. No Flask."""

from urllib.parse import urlencode

from itsdangerous import BadData, URLSafeSerializer, URLSafeTimedSerializer

from domain.follow import Follow, FollowChannel, Interval

CONFIRM_DAYS = 3
DAY_SECONDS = 86_400


class FollowLinks:
    """Creates and reads the keys of links.

    Args:
        secret: Signs the keys; the same at every start.
    """

    def __init__(self, secret: bytes) -> None:
        self._lists = URLSafeSerializer(secret, salt="follows of an address")
        self._confirmations = URLSafeTimedSerializer(secret, salt="follow to confirm")

    def list_path(self, address: str, follow_id: str = "") -> str:
        """Return the path of the page with all follows of an address, or of the page that stops one of them."""
        key = str(self._lists.dumps(address))
        return f"/follow/stop?{urlencode({'key': key, 'id': follow_id})}" if follow_id else f"/follow/list?key={key}"

    def read_list_key(self, key: str) -> str | None:
        """Return the address of a link; None if the link is not ours."""
        try:
            return str(self._lists.loads(key))
        except BadData:
            return None

    def confirm_path(self, follow: Follow) -> str:
        """Return the path of the page that starts a follow. It is valid for CONFIRM_DAYS and saves nothing."""
        values = [follow.channel, follow.address, follow.query, follow.interval, follow.language]
        return f"/follow/confirm?key={self._confirmations.dumps(values)}"

    def read_confirm_key(self, key: str) -> Follow | None:
        """Return the follow of a link; None if the link is not ours or out of date."""
        try:
            channel, address, query, interval, language = self._confirmations.loads(
                key, max_age=CONFIRM_DAYS * DAY_SECONDS
            )
        except BadData:
            return None
        return Follow("", FollowChannel(channel), address, query, Interval(interval), language)
