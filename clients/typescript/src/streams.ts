/** Server-sent events over as many connections as they need, by the rules of the HTML standard's EventSource. */

import { answerOf, isRetryable, LaunchboardError, LONGEST_WAIT_SECONDS, type Result, STREAM } from "./answers.js";
import { pause, watchTime } from "./waits.js";

/** A server-sent event with its decoded data. */
export type StreamEvent = { id: string; event: string; data: unknown };

export interface StreamOptions {
  /** Ends the iteration, also while it waits. */
  signal?: AbortSignal;
  /** Seconds without a byte after which a connection counts as lost: 30, two heartbeats of the service. */
  silenceSeconds?: number;
}

/** What a call adds to its own inputs to open a stream. */
export type StreamInit = { parseAs: "stream"; headers: Record<string, string>; signal: AbortSignal };

// Until the service names another delay in `retry`, which it varies by client: not all reconnect at once.
const RETRY_SECONDS = 3;

/**
 * Yield events without an end: `streamEvents((init) => api.GET("/api/tokens/stream", init))`. A lost connection is
 * opened again, and goes on after the last event. Throws LaunchboardError for a response that no later attempt
 * changes, or that requests a wait of more than 60 s.
 */
export async function* streamEvents(
  open: (init: StreamInit) => Promise<Result<unknown>>,
  { signal, silenceSeconds = 30 }: StreamOptions = {},
): AsyncGenerator<StreamEvent> {
  let id = "";
  let retrySeconds = RETRY_SECONDS;
  let delay = 0;
  while (!signal?.aborted) {
    const watch = watchTime(silenceSeconds, signal);
    let requested: number | undefined;
    try {
      const headers = { accept: STREAM, ...(id ? { "last-event-id": id } : {}) };
      const body = await answerOf(open({ parseAs: "stream", headers, signal: watch.signal }));
      delay = 0;
      for await (const block of readBlocks(body as ReadableStream<Uint8Array<ArrayBuffer>>, watch.restart)) {
        id = block.id ?? id;
        retrySeconds = /^\d{1,9}$/.test(block.retry ?? "") ? Number(block.retry) / 1000 : retrySeconds;
        // A block without data, such as a heartbeat, moves the id only.
        if (block.data !== undefined) yield { id, event: block.event ?? "message", data: JSON.parse(block.data) };
        if (signal?.aborted) return;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof LaunchboardError) {
        requested = error.retryAfter;
        if (!isRetryable(error.status, requested)) throw error;
      } else if (error instanceof SyntaxError) {
        throw error;
      }
    } finally {
      watch.stop();
    }
    delay = Math.min(2 * delay, LONGEST_WAIT_SECONDS) || retrySeconds;
    await pause(requested ?? delay, signal);
  }
}

/** Yield the fields of each complete block. */
async function* readBlocks(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onBytes: () => void,
): AsyncGenerator<Partial<Record<string, string>>> {
  let rest = "";
  let block: Partial<Record<string, string>> = {};
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    onBytes();
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.map((text) => text.replace(/\r$/, ""))) {
      const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (line) block[name] = name === "data" && block.data !== undefined ? `${block.data}\n${value}` : value;
      else {
        yield block;
        block = {};
      }
    }
  }
}
