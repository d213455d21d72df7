/**
 * Writes docs/reasons.md from the lists of reasons: `deno task generate:docs`. With `--check` it
 * writes nothing and fails when the page differs from what it would write.
 *
 * @module
 */
import { keepPage } from "./generated_page.ts";
import { reasonsPage } from "./reasons_page.ts";

await keepPage({ name: "reasons.md", text: reasonsPage() });
