/**
 * Results of long benchmarks, each in a file of its own as soon as it is there: so that one run can be
 * made again.
 *
 * @module
 */
import { dirname } from "node:path";
import type { z } from "zod";

/** Keeps a result as JSON, and makes the folder for it. */
export async function keepResult(file: string, result: object): Promise<void> {
  await Deno.mkdir(dirname(file), { recursive: true });
  await Deno.writeTextFile(file, `${JSON.stringify(result)}\n`);
}

/** Reads a result; undefined when there is none. Throws a `SyntaxError` for another file. */
export async function readKept<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    const result = schema.safeParse(JSON.parse(await Deno.readTextFile(file)));
    if (result.success) return result.data;
    throw new SyntaxError(`Cannot read ${file}: ${result.error.issues[0]?.message}`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
