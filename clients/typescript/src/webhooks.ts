/** Verification of webhook deliveries. Apart from the client: the types of its library need those of Node. */

import { Webhook } from "standardwebhooks";
import type { webhooks } from "./schema.js";

export { WebhookVerificationError } from "standardwebhooks";

/** Any event that a webhook delivers; its `type` is the kind. */
export type WebhookEvent = {
  [Name in keyof webhooks]: webhooks[Name]["post"]["requestBody"]["content"]["application/json"];
}[keyof webhooks];

/** Headers as node:http or fetch has them. */
export type WebhookHeaders = Record<string, string | string[] | undefined> | Iterable<[string, string]>;

/** Return the event of a delivery. Throws WebhookVerificationError if it is forged or over five minutes old. */
export function verifyWebhook(body: string, headers: WebhookHeaders, secret: string): WebhookEvent {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const texts = Object.fromEntries(entries.map(([name, value]) => [name, String(value ?? "")]));
  return new Webhook(secret).verify(body, texts) as WebhookEvent;
}
