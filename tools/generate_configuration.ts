/**
 * Writes docs/configuration.md from the programs' tables of settings: `deno task generate:docs`.
 * With `--check` it writes nothing and fails when the page differs from what it would write.
 *
 * @module
 */
import { AGENT_SETTINGS } from "../agent/settings.ts";
import { CONTROLLER_SETTINGS } from "../controller/settings.ts";
import { keepPage } from "./generated_page.ts";
import { settingsPage } from "./settings_table.ts";

await keepPage({
  name: "configuration.md",
  text: settingsPage([
    { title: "Controller: mbcas-controller", table: CONTROLLER_SETTINGS },
    { title: "Agent: mbcas-agent", table: AGENT_SETTINGS },
  ]),
});
