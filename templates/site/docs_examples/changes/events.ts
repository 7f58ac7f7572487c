type Events = { data: { id: number; type: string; subject: string }[]; cursor: number };

const headers = { "x-api-key": process.env.LAUNCHBOARD_KEY ?? "" };
// Store it with your data, and go on from it after a restart.
let after = 0;
while (true) {
  const response = await fetch(`https://launchboard.example/api/events?after=${after}&limit=500`, { headers });
  if (!response.ok) throw new Error(await response.text());
  const page = (await response.json()) as Events;
  for (const event of page.data) {
    console.log(event.id, event.type, event.subject);
  }
  if (page.cursor === after) break;
  after = page.cursor;
}
