import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const key = Buffer.from((process.env.WEBHOOK_SECRET ?? "").replace("whsec_", ""), "base64");

createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  const id = request.headers["webhook-id"] ?? "";
  const sentAt = request.headers["webhook-timestamp"] ?? "";
  const expected = Buffer.from(`v1,${createHmac("sha256", key).update(`${id}.${sentAt}.`).update(body).digest("base64")}`);
  // During a change of the secret there are two signatures.
  const signatures = String(request.headers["webhook-signature"] ?? "").split(" ").map((text) => Buffer.from(text));
  const signed = signatures.some((each) => each.length === expected.length && timingSafeEqual(each, expected));
  const genuine = signed && Math.abs(Date.now() / 1000 - Number(sentAt)) <= 300;
  if (genuine) console.log(JSON.parse(body.toString()).type);
  response.writeHead(genuine ? 204 : 401).end();
}).listen(Number(process.env.PORT ?? 8080), "127.0.0.1");
