/** Client of Launchboard's HTTP API. `schema.ts` is generated from the service's own description. */

import createClient, { type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, MediaType, PathsWithMethod } from "openapi-typescript-helpers";
import { answerOf, isRetryable, requestedWait, type Result, STREAM } from "./answers.js";
import type { paths } from "./schema.js";
import { pause, watchTime } from "./waits.js";

export { answerOf, type ErrorBody, LaunchboardError } from "./answers.js";
export { type StreamEvent, streamEvents, type StreamInit, type StreamOptions } from "./streams.js";
export type { components, operations, paths, webhooks } from "./schema.js";

type Init<Path extends keyof paths, Method extends HttpMethod> = MaybeOptionalInit<paths[Path], Method>;
// Unlike the library's own type, which infers that of the inputs, this one refuses unknown parameters.
type Call<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>>(
  path: Path,
  ...init: undefined extends Init<Path, Method> ? [init?: Init<Path, Method>] : [init: Init<Path, Method>]
) => Promise<FetchResponse<NonNullable<paths[Path][Method]>, object, MediaType>>;

/** A client with a typed call for each path, such as `api.GET("/api/tokens", ...)`. */
export interface Launchboard {
  GET: Call<"get">;
  POST: Call<"post">;
  PUT: Call<"put">;
  PATCH: Call<"patch">;
  DELETE: Call<"delete">;
}

export interface Options {
  /** Partner key. */
  key?: string;
  /** JWT of a user. */
  userToken?: string;
  /** Repetitions of a call, 5 by default. */
  retries?: number;
  /** Limit of each attempt with its response, 30 by default. Streams have that of their silence. */
  timeoutSeconds?: number;
  fetch?: typeof fetch;
}

/** Return a client of the service at a URL. */
export function launchboard(baseUrl: string, options: Options = {}): Launchboard {
  const headers = {
    ...(options.key ? { "x-api-key": options.key } : {}),
    ...(options.userToken ? { Authorization: `Bearer ${options.userToken}` } : {}),
  };
  return createClient<paths>({
    baseUrl,
    headers,
    fetch: retrying(options.fetch ?? fetch, options.retries ?? 5, options.timeoutSeconds ?? 30),
    bodySerializer: (body: unknown) => (body instanceof Blob ? body : JSON.stringify(body)),
    // Lists in a query are one text with commas.
    querySerializer: { array: { style: "form", explode: false } },
  }) as Launchboard;
}

/**
 * Return a fetch that repeats refused calls, and failed ones where that has no further effect. Streams repeat
 * their attempts themselves.
 */
export function retrying(
  send: typeof fetch,
  retries: number,
  timeoutSeconds: number,
): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.headers.get("accept") === STREAM) return send(request);
    const sendOnce = async () => {
      const watch = watchTime(timeoutSeconds, request.signal);
      try {
        const response = await send(new Request(request.clone(), { signal: watch.signal }));
        // Throws for a body that is cut off.
        await response.clone().arrayBuffer();
        return response;
      } finally {
        watch.stop();
      }
    };
    const mayRepeat = request.method !== "POST" || isUpload(request) || hasRequestKey(await request.clone().text());
    for (let attempt = 0; attempt < retries; attempt++) {
      const outcome = await sendOnce().catch((error: unknown): undefined => {
        if (!mayRepeat || request.signal.aborted) throw error;
      });
      const requested = outcome && requestedWait(outcome);
      if (outcome && !isRetryable(outcome.status, requested, mayRepeat)) return outcome;
      await pause(requested ?? 0.5 * 2 ** attempt + Math.random() / 2, request.signal);
    }
    return sendOnce();
  };
}

/** Of the same picture or document an upload stores one file. */
function isUpload(request: Request): boolean {
  return request.url.includes("/api/uploads/");
}

/** Of deployments the service accepts one for each request key. */
function hasRequestKey(body: string): boolean {
  try {
    return Boolean(JSON.parse(body)?.token?.requestKey);
  } catch {
    return false;
  }
}

/** Return a new request key. Store it before the first call, so that a later process can repeat it. */
export function newRequestKey(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

type Cursor = string | number | null;
type TwoCursors = { cursor: Cursor; recipientCursor: Cursor };
// Its entries are in its list, `data` of most operations.
type Page = { cursor: Cursor } | { pagination: { cursor: Cursor } } | { data: TwoCursors };
// The lists of a response with two cursors.
const LISTS_OF_TWO = { cursor: "launches", recipientCursor: "recipientOf" };

/**
 * Yield the pages of a list, up to the last existing one:
 * `pages((cursor) => api.GET("/api/tokens", { params: { query: { limit: 20, cursor } } }))`. A response with two lists
 * takes `(cursor, recipientCursor)`; a list that has ended is empty in the pages that follow.
 */
export async function* pages<Answer extends Page>(
  // Of any type: texts and numbers continue lists, and only the response's type has which, after these parameters.
  call: (cursor: any, recipientCursor: any) => Promise<Result<Answer>>,
): AsyncGenerator<Answer> {
  let cursors: Partial<TwoCursors> = {};
  do {
    const page: Answer = await answerOf(call(cursors.cursor, cursors.recipientCursor));
    emptyEndedLists(holderOf(page), cursors);
    yield page;
    cursors = nextCursors(page);
  } while (Object.keys(cursors).length);
}

/** Return the part of a response that has its cursor. */
function holderOf(page: Record<string, any>): Record<string, any> {
  return [page, page.pagination, page.data].find((part) => part && "cursor" in part);
}

/** Remove entries and cursor of a list of two that ended before: without its cursor, it begins again. */
function emptyEndedLists(holder: Record<string, any>, cursors: Partial<TwoCursors>): void {
  if (!("recipientCursor" in holder) || !Object.keys(cursors).length) return;
  for (const [cursor, list] of Object.entries(LISTS_OF_TWO)) {
    if (!(cursor in cursors)) Object.assign(holder, { [list]: [], [cursor]: null });
  }
}

/** Return what continues the lists of a page; nothing after the last existing one. */
function nextCursors(page: Record<string, any>): Partial<TwoCursors> {
  const { cursor, recipientCursor } = holderOf(page);
  // That of events, a number, is never null: their first empty page is the last.
  const isLast = typeof cursor === "number" && Object.values(page).some((part) => Array.isArray(part) && !part.length);
  const found = Object.entries(isLast ? {} : { cursor, recipientCursor });
  return Object.fromEntries(found.filter(([, value]) => value !== null && value !== undefined));
}
