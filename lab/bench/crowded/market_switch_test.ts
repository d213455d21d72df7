import assert from "node:assert/strict";
import { parse } from "yaml";
import { switchedSettings } from "./market_switch.ts";

Deno.test("switchedSettings() switches the market and keeps all other settings", () => {
  const text = "# Settings.\nmarket:\n  burstFactor: 3\nlog:\n  level: debug\n";
  assert.deepEqual(parse(switchedSettings(text, false)), {
    market: { burstFactor: 3, enabled: "off" },
    log: { level: "debug" },
  });
});

Deno.test("switchedSettings() makes settings of a text of comments alone", () => {
  assert.deepEqual(parse(switchedSettings("# Nothing is set.\n", true)), {
    market: { enabled: "on" },
  });
});
