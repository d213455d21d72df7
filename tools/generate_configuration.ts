/**
 * Writes docs/configuration.md from the programs' tables of settings: `deno task generate:docs`.
 * With `--check` it writes nothing and fails when the page differs from what it would write.
 *
 * @module
 */
import { AGENT_SETTINGS } from "../agent/settings.ts";
import { CONTROLLER_SETTINGS } from "../controller/settings.ts";
import { settingsPage } from "./settings_table.ts";

const page = new URL("../docs/configuration.md", import.meta.url);
const wanted = settingsPage([
  { title: "Controller: mbcas-controller", table: CONTROLLER_SETTINGS },
  { title: "Agent: mbcas-agent", table: AGENT_SETTINGS },
]);

/** The page as it is; empty when there is none. */
async function presentText(): Promise<string> {
  try {
    return await Deno.readTextFile(page);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

if (!Deno.args.includes("--check")) {
  await Deno.writeTextFile(page, wanted);
} else if (await presentText() !== wanted) {
  console.error("docs/configuration.md is stale: run deno task generate:docs");
  Deno.exit(1);
}
