// Writes the Postman collection of a description: node postman.mjs DESCRIPTION COLLECTION.
import { readFileSync, writeFileSync } from "node:fs";

// The converter chooses one of several values at random; so it is the first one in each run.
Math.random = () => 0;
const { default: converter } = await import("openapi-to-postmanv2");

const [description, target] = process.argv.slice(2);
const options = { folderStrategy: "Tags", parametersResolution: "Schema", enableOptionalParameters: false };
// Of a pattern the converter makes a random text.
const withoutPatterns = (name, value) => (name === "pattern" && typeof value === "string" ? undefined : value);
const data = JSON.stringify(JSON.parse(readFileSync(description, "utf8")), withoutPatterns);

converter.convertV2({ type: "string", data }, options, (error, outcome) => {
  if (error || !outcome.result) throw error ?? new Error(outcome.reason);
  writeFileSync(target, `${JSON.stringify(outcome.output[0].data, withoutRandom, 1)}\n`);
});

// Ids are random in each run; Postman makes its own. Examples of responses repeat the description.
function withoutRandom(name, value) {
  const isOwn = "request" in this || "schema" in this || "_postman_id" in this;
  return isOwn && ["id", "_postman_id", "response"].includes(name) ? undefined : value;
}
