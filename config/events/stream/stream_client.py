"""Connection of a stream client: reads on until it is live, with a bounded buffer."""

import asyncio
from dataclasses import dataclass

import psycopg
from aiohttp import web

from config.events.stream.event_hub import READ_EVENTS, EventHub, encode_events, make_frames
from config.events.stream.event_reading import EventReader
from config.events.stream.sse_format import Frame, history_lost_text, make_frame, opening_text
from config.events.stream.stream_query import StreamQuery

# Bytes that wait for a client in this process, besides one frame; the system buffers SEND_BUFFER_BYTES more.
BUFFER_BYTES = 32 * 1024
# Ids that one statement reads through for matching events: others wait for milliseconds.
_SCANNED_IDS = 5_000
# Seconds between checks whether the client's turn has reached its position.
_REACH_SECONDS = 0.05


@dataclass
class StreamCounts:
    """This process's counts since its start."""

    events_sent: int = 0
    slow_closed: int = 0


class StreamClient:
    """Stream client, served by its request's task."""

    def __init__(
        self, query: StreamQuery, *, hub: EventHub, reader: EventReader, counts: StreamCounts, drain_seconds: float
    ) -> None:
        """Close the connection if its full buffer does not drain within `drain_seconds`."""
        self.stream_filter = query.filter
        self._turn = hub.take_turn()
        self.position = hub.newest if query.last_event_id is None else query.last_event_id
        self._opening = opening_text(self.position if query.last_event_id is None else None)
        self._hub, self._reader, self._counts, self._drain_seconds = hub, reader, counts, drain_seconds
        self._woken = asyncio.Event()

    async def serve(self, request: web.BaseRequest, response: web.StreamResponse) -> None:
        """Send events until the client disconnects, which cancels the task, is too slow, or the hub closes."""
        await response.prepare(request)
        # Sends the headers as well.
        await response.write(self._opening)
        transport = request.transport
        if transport is None:
            return
        # A frame is made once for all clients, so it is written to the transport, below the response.
        self._transport, self._writer = transport, request.writer
        self._is_chunked = request.version >= (1, 1)
        transport.set_write_buffer_limits(high=BUFFER_BYTES)
        try:
            await self._follow()
        except TimeoutError:
            self._counts.slow_closed += 1
            # Not `close`, which first sends what is buffered.
            transport.abort()
        except (ConnectionError, psycopg.Error):
            # The client resumes in a new connection. The poller reports database failures.
            transport.abort()
        finally:
            self._turn.leave(self)

    def has_room(self) -> bool:
        """Return whether another frame fits into the buffer."""
        return self._transport.get_write_buffer_size() <= BUFFER_BYTES

    def send_frame(self, frame: Frame) -> None:
        """Write the frame to the buffer."""
        self._transport.write(frame.chunk if self._is_chunked else frame.text)
        self._counts.events_sent += frame.events

    def wake(self) -> None:
        """Read on in pages."""
        self._woken.set()

    async def _follow(self) -> None:
        hub, turn = self._hub, self._turn
        while not hub.is_closed:
            if self.position == turn.position:
                self._woken.clear()
                turn.join(self)
                await self._woken.wait()
                await self._drain()
                continue
            if self.position > turn.position:
                frames, upto = await self._check_position()
            elif self.position >= hub.floor:
                frames, upto = hub.read_on(self.position, self.stream_filter, upto=turn.position)
            else:
                frames, upto = await self._read_log()
            for frame in frames:
                self.send_frame(frame)
                await self._drain()
            self.position = upto

    async def _check_position(self) -> tuple[list[Frame], int]:
        """Wait for the turn to have the client's event; without such an event in the database, its history is lost."""
        if self.position > self._hub.newest:
            newest = await self._reader.newest_id()
            if self.position > newest:
                return self._lose_history(oldest=await self._reader.oldest_id(), newest=newest)
        await asyncio.sleep(_REACH_SECONDS)
        return [], self.position

    async def _read_log(self) -> tuple[list[Frame], int]:
        newest = self._turn.position
        # Id 0 is the position before the first stored event.
        after = self.position or (await self._reader.oldest_id() or newest + 1) - 1
        upto = min(newest, after + _SCANNED_IDS)
        rows = await self._reader.fetch_matching(self.stream_filter, after=after, upto=upto, limit=READ_EVENTS)
        # After the page: what is stored now was stored then.
        oldest = await self._reader.oldest_id()
        if after + 1 < oldest:
            return self._lose_history(oldest=oldest, newest=self._hub.newest)
        if len(rows) == READ_EVENTS:
            upto = rows[-1].id
        return list(make_frames(encode_events(rows), self.stream_filter, upto=upto)), upto

    def _lose_history(self, *, oldest: int, newest: int) -> tuple[list[Frame], int]:
        return [make_frame(history_lost_text(oldest=oldest, newest=newest))], newest

    async def _drain(self) -> None:
        async with asyncio.timeout(self._drain_seconds):
            await self._writer.drain()
