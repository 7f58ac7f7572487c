/** Bodies of responses, and the rules of which errors are worth another attempt. */

/** The body of every error. */
export type ErrorBody = { error: string; details?: { field: string; message: string }[] };
export type Result<Answer> = { data?: Answer; error?: unknown; response: Response };

// No attempt is repeated if the service requests a longer wait, such as until a daily limit ends.
export const LONGEST_WAIT_SECONDS = 60;
const BUSY = [429, 502, 503];
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
export const STREAM = "text/event-stream";

/** An error response. */
export class LaunchboardError extends Error {
  constructor(
    readonly status: number,
    readonly body: ErrorBody,
    /** Seconds that the response requests to wait; undefined without a usable header. */
    readonly retryAfter?: number,
  ) {
    super(`${status}: ${body.error}`);
  }
}

/** Return the body of a response. Throws LaunchboardError for an error response. */
export async function answerOf<Answer>(call: Promise<Result<Answer>>): Promise<Answer> {
  const { data, error, response } = await call;
  if (response.ok) return data as Answer;
  const isDescribed = typeof error === "object" && error !== null && "error" in error;
  const body = isDescribed ? (error as ErrorBody) : { error: "no error body" };
  throw new LaunchboardError(response.status, body, requestedWait(response));
}

/** Return the seconds of Retry-After; undefined without it, and for a past date or another value. */
export function requestedWait(response: Response): number | undefined {
  const text = response.headers.get("retry-after") ?? "";
  if (/^\d+$/.test(text)) return Number(text);
  const seconds = HTTP_DATE.test(text) ? (Date.parse(text) - Date.now()) / 1000 : 0;
  return seconds > 0 ? seconds : undefined;
}

/** Return whether to repeat a call: one over its rate limit was refused before any effect. */
export function isRetryable(status: number, requested = 0, mayRepeat = true): boolean {
  return BUSY.includes(status) && (mayRepeat || status === 429) && requested <= LONGEST_WAIT_SECONDS;
}
