/** Client of Launchboard's HTTP API. `schema.ts` is generated from the service's own description. */

import createClient, { type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, MediaType, PathsWithMethod } from "openapi-typescript-helpers";
import { Webhook } from "standardwebhooks";
import type { paths, webhooks } from "./schema.js";

export { WebhookVerificationError } from "standardwebhooks";
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

/** Any event that a webhook delivers; its `type` is the kind. */
export type WebhookEvent = {
  [Name in keyof webhooks]: webhooks[Name]["post"]["requestBody"]["content"]["application/json"];
}[keyof webhooks];
/** The body of every error. */
export type ErrorBody = { error: string; details?: { field: string; message: string }[] };

export interface Options {
  /** Partner key. */
  key?: string;
  /** JWT of a user. */
  userToken?: string;
  /** Repetitions of a call, 5 by default. */
  retries?: number;
  fetch?: typeof fetch;
}

/** An error response. */
export class LaunchboardError extends Error {
  constructor(
    readonly status: number,
    readonly body: ErrorBody,
  ) {
    super(`${status}: ${body.error}`);
  }
}

// A call is not repeated if the service requests a longer wait, such as until a daily limit ends.
const LONGEST_WAIT_SECONDS = 60;

/** Return a client of the service at a URL. */
export function launchboard(baseUrl: string, options: Options = {}): Launchboard {
  const headers = {
    ...(options.key ? { "x-api-key": options.key } : {}),
    ...(options.userToken ? { Authorization: `Bearer ${options.userToken}` } : {}),
  };
  return createClient<paths>({
    baseUrl,
    headers,
    fetch: retrying(options.fetch ?? fetch, options.retries ?? 5),
    // Lists in a query are one text with commas.
    querySerializer: { array: { style: "form", explode: false } },
  }) as Launchboard;
}

/** Return a fetch that repeats refused calls, and failed ones where that has no further effect. */
export function retrying(send: typeof fetch, retries: number): (request: Request) => Promise<Response> {
  return async (request) => {
    const mayRepeat = request.method !== "POST" || hasRequestKey(await request.clone().text());
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= retries;
      const outcome = await send(request.clone()).catch((error: unknown) => {
        if (isLast || !mayRepeat || request.signal.aborted) throw error;
      });
      if (outcome && (isLast || !isRetryable(outcome, mayRepeat))) return outcome;
      const after = Number(outcome?.headers.get("retry-after") ?? 0.5 * 2 ** attempt + Math.random() / 2);
      if (outcome && after > LONGEST_WAIT_SECONDS) return outcome;
      await outcome?.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, after * 1000));
    }
  };
}

/** A call over its rate limit was refused before any effect. */
function isRetryable(response: Response, mayRepeat: boolean): boolean {
  return response.status === 429 || (mayRepeat && (response.status === 502 || response.status === 503));
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

type Result<Answer> = { data?: Answer; error?: unknown; response: Response };

/** Return the body of a response. Throws LaunchboardError for an error response. */
export async function answerOf<Answer>(call: Promise<Result<Answer>>): Promise<Answer> {
  const { data, error, response } = await call;
  if (response.ok) return data as Answer;
  const isDescribed = typeof error === "object" && error !== null && "error" in error;
  throw new LaunchboardError(response.status, isDescribed ? (error as ErrorBody) : { error: "no error body" });
}

// Its entries are in its list, `data` of most operations.
type Page = { cursor: string | number | null };

/**
 * Yield the pages of a list, up to the last one of now:
 * `pages((cursor) => api.GET("/api/tokens", { params: { query: { limit: 20, cursor } } }))`.
 */
export async function* pages<Answer extends Page>(
  // Of any type: texts and numbers continue lists, and only the response's type has which, after this parameter.
  call: (cursor: any) => Promise<Result<Answer>>,
): AsyncGenerator<Answer> {
  let cursor: Answer["cursor"] | undefined;
  do {
    const page = await answerOf(call(cursor));
    yield page;
    const entries = Object.values<unknown>({ ...page }).find(Array.isArray);
    cursor = entries?.length ? (page.cursor ?? undefined) : undefined;
  } while (cursor !== undefined);
}

/** A server-sent event with its decoded data. */
export type StreamEvent = { id: string; event: string; data: unknown };

/** Yield events as they arrive: `streamEvents(api.GET("/api/tokens/stream", { parseAs: "stream" }))`. */
export async function* streamEvents(call: Promise<Result<unknown>>): AsyncGenerator<StreamEvent> {
  const stream = (await answerOf(call)) as ReadableStream<Uint8Array<ArrayBuffer>>;
  let rest = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + part).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string) => block.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1] ?? "";
      if (field("data")) yield { id: field("id"), event: field("event"), data: JSON.parse(field("data")) };
    }
  }
}

/** Return the event of a delivery. Throws WebhookVerificationError if it is forged or over five minutes old. */
export function verifyWebhook(body: string, headers: Record<string, string>, secret: string): WebhookEvent {
  return new Webhook(secret).verify(body, headers) as WebhookEvent;
}
