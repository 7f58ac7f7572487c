/** Bodies of responses, and the rules of which errors are worth another attempt. */

/** The body of every error. */
export type ErrorBody = { error: string; details?: { field: string; message: string }[] };
export type Result<Answer> = { data?: Answer; error?: unknown; response: Response };

// No attempt is repeated if the service requests a longer wait, such as until a daily limit ends.
export const LONGEST_WAIT_SECONDS = 60;
export const BUSY = [429, 502, 503];
export const STREAM = "text/event-stream";

/** An error response. */
export class LaunchboardError extends Error {
  constructor(
    readonly status: number,
    readonly body: ErrorBody,
    /** Seconds that the response requests to wait; undefined without such a header. */
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
  const after = response.headers.get("retry-after") ?? "";
  throw new LaunchboardError(response.status, body, /^\d+$/.test(after) ? Number(after) : undefined);
}
