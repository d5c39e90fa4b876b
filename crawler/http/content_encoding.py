"""Undo content codings (gzip, deflate, br, zstd) with a limit on the output size.

The encoded body is in memory and at most as long as the cap. Memory and time are therefore bounded for each coding.
"""

import io
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

import brotli  # type: ignore[import-untyped]
import zstandard

from domain.message import Message

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
_MAX_CODINGS = 5


class ContentDecodingError(ValueError):
    """The body does not match its Content-Encoding, or is truncated."""


class TooLargeError(ValueError):
    """The body is longer than the cap."""


def decode_body(body: bytes, content_encoding: str, cap: int) -> bytes:
    """Remove all codings from the body. Raises ContentDecodingError, or TooLargeError above `cap` bytes."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if len(names) > _MAX_CODINGS:
        raise ContentDecodingError(f"{len(names)} content codings")
    for name in reversed(names):
        decoder = DECODERS.get(name)
        if decoder is None:
            raise ContentDecodingError(f"content coding {name[:20]!r}")
        body = _check_size(decoder(body, cap), cap) if body else b""
    return _check_size(body, cap)


def _check_size(body: bytes, cap: int) -> bytes:
    if len(body) > cap:
        raise TooLargeError(Message("More than 1 byte", "More than {n} bytes", n=cap))
    return body


def _inflate(body: bytes, cap: int, bits: int) -> tuple[bytes, bytes]:
    """Inflate one zlib stream to at most cap + 1 bytes. Returns the output and the bytes after the stream."""
    stream = zlib.decompressobj(bits)
    output = stream.decompress(body, cap + 1)
    if not stream.eof and len(output) <= cap:
        raise ContentDecodingError("is truncated")
    return output, stream.unused_data


def _gzip(body: bytes, cap: int) -> bytes:
    """Decode all gzip members. Other bytes after the last member are ignored, as in other clients."""
    parts: list[bytes] = []
    byte_count = 0
    try:
        while body.startswith(b"\x1f\x8b") and byte_count <= cap:
            output, body = _inflate(body, cap - byte_count, 16 + zlib.MAX_WBITS)
            parts.append(output)
            byte_count += len(output)
    except zlib.error as error:
        raise ContentDecodingError(str(error)) from error
    if not parts:
        raise ContentDecodingError("not gzip")
    return b"".join(parts)


def _deflate(body: bytes, cap: int) -> bytes:
    """Decode a zlib stream (RFC 1950), or the raw stream that some servers send instead."""
    try:
        return _inflate(body, cap, zlib.MAX_WBITS)[0]
    except zlib.error:
        pass
    try:
        return _inflate(body, cap, -zlib.MAX_WBITS)[0]
    except zlib.error as error:
        raise ContentDecodingError(str(error)) from error


def _brotli(body: bytes, cap: int) -> bytes:
    stream = brotli.Decompressor()
    try:
        output: bytes = stream.process(body, output_buffer_limit=cap + 1)
        while len(output) <= cap and not stream.is_finished():
            more = stream.process(b"", output_buffer_limit=cap + 1 - len(output))
            if not more:
                raise ContentDecodingError("is truncated")
            output += more
    except brotli.error as error:
        raise ContentDecodingError("not brotli") from error
    return output


def _zstd(body: bytes, cap: int) -> bytes:
    """Decode all zstd frames. Each decoder returns at most cap + 1 bytes; more than `cap` means too large."""
    stream = zstandard.ZstdDecompressor(max_window_size=1 << 23).stream_reader(
        io.BytesIO(body), read_across_frames=True
    )
    parts: list[bytes] = []
    byte_count = 0
    try:
        while byte_count <= cap and (part := stream.read(min(cap + 1 - byte_count, 1 << 20))):
            parts.append(part)
            byte_count += len(part)
    except zstandard.ZstdError as error:
        raise ContentDecodingError(str(error)) from error
    return b"".join(parts)


DECODERS: Mapping[str, Callable[[bytes, int], bytes]] = MappingProxyType(
    {"gzip": _gzip, "x-gzip": _gzip, "deflate": _deflate, "br": _brotli, "zstd": _zstd}
)
