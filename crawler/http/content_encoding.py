"""Undo content codings (gzip, deflate, br, zstd) without ever making more than a given number of bytes.

The coded body is at hand as a whole, itself no longer than the cap, so memory and time are bounded at each layer.
"""

import io
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

import brotli  # type: ignore[import-untyped]
import zstandard

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
_MAX_CODINGS = 5


class ContentDecodingError(ValueError):
    """The body is not what its Content-Encoding says, or ends too early."""


class TooLargeError(ValueError):
    """The body is longer than the cap."""


def decode_body(body: bytes, content_encoding: str, cap: int) -> bytes:
    """The body without its codings. Raises CodingError or TooLargeError."""
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
        raise TooLargeError(f"more than {cap} bytes")
    return body


def _inflate(body: bytes, cap: int, bits: int) -> tuple[bytes, bytes]:
    """One zlib stream and what follows it; at most cap + 1 bytes of output."""
    stream = zlib.decompressobj(bits)
    output = stream.decompress(body, cap + 1)
    if not stream.eof and len(output) <= cap:
        raise ContentDecodingError("ends too early")
    return output, stream.unused_data


def _gzip(body: bytes, cap: int) -> bytes:
    """All members; bytes after the last member that are none are ignored, as other clients do."""
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
    """RFC 1950, or the raw stream that some servers send instead."""
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
                raise ContentDecodingError("ends too early")
            output += more
    except brotli.error as error:
        raise ContentDecodingError("not brotli") from error
    return output


def _zstd(body: bytes, cap: int) -> bytes:
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
