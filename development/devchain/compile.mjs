// Compiles contracts/*.sol and writes one line of JSON a deployable contract: {contractName, abi, bytecode}.
//
//   node compile.mjs [--out DIRECTORY]      (default: artifacts)
//
// The same sources give the same bytes wherever they lie: the compiler is pinned, its metadata hash is off, and file
// names are relative.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import solc from "solc";

const here = dirname(fileURLToPath(import.meta.url));

function readSources() {
  const folder = join(here, "contracts");
  const names = readdirSync(folder).filter((name) => name.endsWith(".sol")).sort();
  return Object.fromEntries(names.map((name) => [name, { content: readFileSync(join(folder, name), "utf8") }]));
}

function compile(sources) {
  const input = {
    language: "Solidity",
    sources,
    settings: {
      // Without the IR pipeline the launch event has more arguments than the stack reaches.
      viaIR: true,
      optimizer: { enabled: true, runs: 200 },
      evmVersion: "cancun",
      metadata: { bytecodeHash: "none", appendCBOR: false },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  // 2394 warns of transient storage, where Uniswap's router reads its debts.
  const problems = (output.errors ?? []).filter((problem) => problem.errorCode !== "2394");
  for (const problem of problems) process.stderr.write(problem.formattedMessage);
  if (problems.length > 0) process.exit(1);
  return Object.values(output.contracts).flatMap((contracts) => Object.entries(contracts));
}

const { values } = parseArgs({ options: { out: { type: "string", default: join(here, "artifacts") } } });
const out = resolve(values.out);
const compiled = compile(readSources());
mkdirSync(out, { recursive: true });
// A contract that was renamed must not leave its old artifact behind.
for (const name of readdirSync(out).filter((name) => name.endsWith(".json"))) rmSync(join(out, name));
for (const [contractName, { abi, evm }] of compiled) {
  const bytecode = evm.bytecode.object;
  // Interfaces and abstract contracts have no bytecode, and a library of internal functions is only ever inlined.
  if (bytecode === "" || !abi.some((item) => item.type !== "error")) continue;
  writeFileSync(join(out, `${contractName}.json`), JSON.stringify({ contractName, abi, bytecode: `0x${bytecode}` }) + "\n");
}
