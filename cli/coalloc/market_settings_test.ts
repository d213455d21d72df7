import assert from "node:assert/strict";
import { DEFAULT_MARKET_SETTINGS, marketSettings } from "./market_settings.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

Deno.test({
  name: "marketSettings() reads which pods take part, with the programs' defaults",
  permissions: PURE,
  fn() {
    for (const text of ["", "log:\n  level: debug\n", "market: [", "- market\n", "market:\n"]) {
      assert.deepEqual(marketSettings(text), DEFAULT_MARKET_SETTINGS, text);
    }
    assert.deepEqual(
      marketSettings("market:\n  managementPolicy: OptIn\n  excludedNamespaces: [a, b]\n"),
      { market: true, managementPolicy: "OptIn", excludedNamespaces: ["a", "b"] },
    );
    assert.deepEqual(marketSettings("market: {excludedNamespaces: 'a, b'}").excludedNamespaces, [
      "a",
      "b",
    ]);
  },
});

Deno.test({
  name: "marketSettings() knows the short form and the long one",
  permissions: PURE,
  fn() {
    for (
      const text of [
        "market: off",
        "market: false",
        "market:\n  enabled: false\n",
        "market: off\nlog: [",
      ]
    ) {
      assert.equal(marketSettings(text).market, false, text);
    }
    for (const text of ["market: on", "market: {}", "market:\n  enabled: on\n"]) {
      assert.equal(marketSettings(text).market, true, text);
    }
  },
});
