/**
 * Compares golden outputs with what is stored, or stores them.
 *
 * @module
 */
import type { ComputedPart } from "./compute_parts.ts";
import { differencesOf } from "./differences.ts";
import type { StoredOutputs } from "./stored_outputs.ts";

/** What is done. */
export interface GoldenRequest {
  /** Parts by name, with the file of each. */
  readonly files: ReadonlyMap<string, string>;
  /** All files that some part has: others are left over. */
  readonly known: readonly string[];
  /** Stores what differs. */
  readonly accept: boolean;
  /** Shows the notes of each part. */
  readonly verbose: boolean;
  /** Fails where a part is left out. @default {false} */
  readonly complete?: boolean;
}

/** What it is done with. */
export interface GoldenWorld {
  readonly compute: (names: readonly string[]) => Promise<readonly ComputedPart[]>;
  readonly stored: StoredOutputs;
  readonly out: (line: string) => void;
}

/** Resolves with the exit code: 0 when all is equal or stored, 1 when something differs. */
export async function golden(
  { files, known, accept, verbose, complete = false }: GoldenRequest,
  { compute, stored, out }: GoldenWorld,
): Promise<0 | 1> {
  let failed = false;
  for (const part of await compute([...files.keys()])) {
    const { name, text, leftOut = "", notes, problems, ms } = part;
    const file = files.get(name) ?? name;
    const took = `${(ms / 1000).toFixed(1)} s`;
    for (const problem of problems) out(`${name}: ${problem}`);
    if (problems.length > 0) failed = true;
    if (text === undefined) {
      if (complete) failed = true;
      out(`${name}: ${complete ? "MISSING" : "left out"}, ${leftOut}`);
    } else {
      const lines = differencesOf(await stored.read(file), text);
      const isEqual = lines.length === 0;
      // An output with a problem is not worth keeping.
      const isStored = !isEqual && accept && problems.length === 0;
      if (isStored) await stored.write(file, text);
      if (!isEqual && !isStored) failed = true;
      out(`${name}: ${isEqual ? "unchanged" : isStored ? "stored" : "DIFFERS"} (${file}, ${took})`);
      for (const line of lines) out(`  ${line}`);
    }
    if (verbose) { for (const note of notes) out(`  ${note}`); }
  }
  for (const file of await leftOver(stored, known)) {
    out(`${file}: ${accept ? "removed" : "DIFFERS"}, no part has such a file`);
    if (accept) await stored.remove(file);
    else failed = true;
  }
  const problem = sizeProblem(await stored.sizes());
  if (problem !== undefined) {
    out(problem);
    failed = true;
  }
  if (failed && !accept) {
    out("A refactoring leaves these outputs as they are. A change of behaviour accepts them with");
    out("deno task golden --accept, and its commit says why.");
  }
  return failed ? 1 : 0;
}

/** What all files together may take, bytes. */
const MOST_BYTES = 300_000;

function sizeProblem(sizes: ReadonlyMap<string, number>): string | undefined {
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (total < MOST_BYTES) return undefined;
  const [[file, size] = ["", 0]] = [...sizes].sort(([, one], [, other]) => other - one);
  return `the files take ${total} bytes, and must stay below ${MOST_BYTES}; the largest is ` +
    `${file} with ${size}`;
}

async function leftOver(
  stored: StoredOutputs,
  known: readonly string[],
): Promise<readonly string[]> {
  return (await stored.names()).filter((file) => !known.includes(file));
}
