/**
 * Writes docs/configuration.md from the programs' settings: `deno task generate:docs`.
 * With `--check` it writes nothing and fails when the page differs from what it would write.
 *
 * @module
 */
import { AGENT_SETTINGS } from "../agent/settings.ts";
import { CONTROLLER_SETTINGS } from "../controller/settings.ts";
import { keepPage } from "./generated_page.ts";
import { settingsPage } from "../shared/config/docs.ts";

await keepPage({
  name: "configuration.md",
  text: settingsPage([
    { title: "Controller: mbcas-controller", schema: CONTROLLER_SETTINGS },
    { title: "Agent: mbcas-agent", schema: AGENT_SETTINGS },
  ]),
});
