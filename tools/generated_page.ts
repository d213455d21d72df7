/**
 * Pages of docs/ that are made from the source.
 *
 * @module
 */
import { presentText } from "./present_text.ts";

/** A page, and what it should say. */
export interface GeneratedPage {
  /** Within docs/, for instance `configuration.md`. */
  readonly name: string;
  readonly text: string;
}

/**
 * Writes the page; with `--check` among the program's arguments it writes nothing and ends with code 1
 * when the page differs.
 */
export async function keepPage({ name, text }: GeneratedPage): Promise<void> {
  const page = new URL(`../docs/${name}`, import.meta.url);
  if (!Deno.args.includes("--check")) {
    await Deno.writeTextFile(page, text);
  } else if (await presentText(page) !== text) {
    console.error(`docs/${name} is stale: run deno task generate:docs`);
    Deno.exit(1);
  }
}
