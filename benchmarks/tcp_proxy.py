"""`python -m benchmarks.tcp_proxy PORT TO`: forwards connections from PORT on loopback to port TO until killed."""

import asyncio
import sys

CHUNK = 1 << 16


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy all data from one socket to the other."""
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def main(port: int, to: int) -> None:
    """Listen and forward; prints a line when ready."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        their_reader, their_writer = await asyncio.open_connection("127.0.0.1", to)
        await asyncio.gather(pass_on(reader, their_writer), pass_on(their_reader, writer))

    server = await asyncio.start_server(connected, "127.0.0.1", port)
    print("listening", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
