const url = "https://launchboard.example/api/tokens/stream";
let lastId = "";
let retry = 3000;
let wait = 0;
while (true) {
  await new Promise((resolve) => setTimeout(resolve, wait));
  wait = retry;
  // Heartbeats come every 15 s: after 30 s of silence the connection is lost.
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), 30_000);
  try {
    const headers = new Headers(lastId ? { "Last-Event-ID": lastId } : {});
    const response = await fetch(url, { headers, signal: silence.signal });
    if ([429, 502, 503].includes(response.status)) {
      wait = Number(response.headers.get("Retry-After") ?? retry / 1000) * 1000;
      continue;
    }
    if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
    let rest = "";
    for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
      timer.refresh();
      // An empty line ends an event. One that is cut off before is sent again.
      const events = (rest + part).split("\n\n");
      rest = events.pop() ?? "";
      for (const line of events.join("\n").split("\n")) {
        if (line.startsWith("id: ")) lastId = line.slice(4);
        if (line.startsWith("retry: ")) retry = wait = Number(line.slice(7));
        if (line.startsWith("data: ")) console.log(JSON.parse(line.slice(6)));
      }
    }
  } catch (error) {
    // A failed or lost connection is a TypeError of fetch.
    if (!(error instanceof TypeError) && !silence.signal.aborted) throw error;
    console.error("reconnect:", error);
  } finally {
    clearTimeout(timer);
  }
}
