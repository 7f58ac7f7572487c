// Writes the Postman collection of a description: node postman.mjs DESCRIPTION COLLECTION.
import { readFileSync, writeFileSync } from "node:fs";

// The converter chooses one of several values at random; so it is the first one in each run.
Math.random = () => 0;
const { default: converter } = await import("openapi-to-postmanv2");

const [description, target] = process.argv.slice(2);
const options = { folderStrategy: "Tags", parametersResolution: "Example", enableOptionalParameters: false };
const document = JSON.parse(readFileSync(description, "utf8"), (name, value) => {
  // Of a pattern the converter makes a random text.
  if (name === "pattern" && typeof value === "string") return undefined;
  // An operation that requires one of several parameters has an example of the first.
  return value?.in && "example" in value ? { ...value, required: true } : value;
});
// Only Postman's cookie jar sends a cookie: the converter makes a header of it, with the value of another credential.
const cookies = Object.values(document.components.securitySchemes).filter((scheme) => scheme.in === "cookie");
const cookieNames = new Set(cookies.map((scheme) => scheme.name));

converter.convertV2({ type: "string", data: JSON.stringify(document) }, options, (error, outcome) => {
  if (error || !outcome.result) throw error ?? new Error(outcome.reason);
  const collection = JSON.parse(JSON.stringify(outcome.output[0].data, prepared));
  declareVariables(collection);
  writeFileSync(target, `${JSON.stringify(collection, null, 1)}\n`);
});

// The value of a part of the collection; undefined leaves it out.
function prepared(name, value) {
  // Ids are random in each run; Postman makes its own. Examples of responses repeat the description.
  const isOwn = "request" in this || "schema" in this || "_postman_id" in this;
  if (isOwn && ["id", "_postman_id", "response"].includes(name)) return undefined;
  if (name === "auth" && value?.apikey?.some((part) => cookieNames.has(part.value))) return { type: "noauth" };
  // Postman's user chooses a file.
  const form = name === "body" && this.header?.find((each) => each.key === "Content-Type")?.value;
  if (form && form !== "application/json") return { mode: "file", file: {} };
  // Optional parameters are for the user to fill in.
  if (name === "value" && this.disabled) return "";
  return value;
}

// Declares the variables that requests use, without a value.
function declareVariables(collection) {
  const declared = new Set(collection.variable.map((variable) => variable.key));
  for (const [, key] of JSON.stringify(collection.item).matchAll(/{{(\w+)}}/g)) {
    if (!declared.has(key)) collection.variable.push({ key, value: "" });
    declared.add(key);
  }
}
