let lastId = "";
while (true) {
  try {
    const headers = new Headers(lastId ? { "Last-Event-ID": lastId } : {});
    const response = await fetch("https://launchboard.example/api/tokens/stream", { headers });
    if (!response.ok || !response.body) throw new Error(await response.text());
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("id: ")) lastId = line.slice(4);
        if (line.startsWith("data: ")) console.log(JSON.parse(line.slice(6)));
      }
    }
  } catch (error) {
    console.error("reconnect:", error);
  }
  await new Promise((resolve) => setTimeout(resolve, 3000));
}
