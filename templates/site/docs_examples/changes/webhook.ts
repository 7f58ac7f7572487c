import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";

const key = Buffer.from((process.env.WEBHOOK_SECRET ?? "").replace("whsec_", ""), "base64");
if (!key.length) throw new Error("WEBHOOK_SECRET is not set");

async function receive(request: IncomingMessage): Promise<number> {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  const id = request.headers["webhook-id"] ?? "";
  const sentAt = request.headers["webhook-timestamp"] ?? "";
  const expected = Buffer.from(`v1,${createHmac("sha256", key).update(`${id}.${sentAt}.`).update(body).digest("base64")}`);
  // During a change of the secret there are two signatures.
  const signatures = String(request.headers["webhook-signature"] ?? "").split(" ").map((text) => Buffer.from(text));
  const signed = signatures.some((each) => each.length === expected.length && timingSafeEqual(each, expected));
  if (!signed || !(Math.abs(Date.now() / 1000 - Number(sentAt)) <= 300)) return 401;
  console.log(JSON.parse(body.toString()).type);
  return 204;
}

createServer(async (request, response) => {
  // A request may be cut off, and a body may be no JSON.
  const status = await receive(request).catch(() => 400);
  response.writeHead(status).end();
}).listen(Number(process.env.PORT ?? 8080), "127.0.0.1");
