/** Waits that a signal ends, and limits of those that a server causes. */

/** Wait for so many seconds, or until the signal aborts. */
export async function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, seconds * 1000);
    signal?.addEventListener("abort", end);
  });
}

/** Return a signal that aborts after so many seconds since its last restart, or with another one. */
export function watchTime(seconds: number, signal?: AbortSignal) {
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException(`nothing received in ${seconds} s`, "TimeoutError"));
  const begin = () => setTimeout(end, seconds * 1000);
  let timer = begin();
  const stop = () => clearTimeout(timer);
  const restart = () => {
    stop();
    timer = begin();
  };
  return { signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal, restart, stop };
}
