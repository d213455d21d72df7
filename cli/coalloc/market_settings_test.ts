import { pureYAML } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { ScopeSettings } from "../../shared/resize/scope.ts";
import { SYSTEM_NAMESPACE } from "./kube/system_namespace.ts";
import { DEFAULT_MARKET_SETTINGS, marketSettings } from "./market_settings.ts";

pureYAML("marketSettings() reads which pods take part, with the programs' defaults", () => {
  const rows: readonly (readonly [text: string, change?: Partial<ScopeSettings>])[] = [
    ...["", "log:\n  level: debug\n", "market: [", "- market\n", "market:\n"].map((text) =>
      [text] as const
    ),
    [
      "market:\n  managementPolicy: OptIn\n  excludedNamespaces: [a, b]\n",
      { managementPolicy: "OptIn", excludedNamespaces: ["a", "b", SYSTEM_NAMESPACE] },
    ],
    ["market: {excludedNamespaces: 'a, b'}", { excludedNamespaces: ["a", "b", SYSTEM_NAMESPACE] }],
    ["market: off", { market: false }],
    ["market: false", { market: false }],
    ["market:\n  enabled: false\n", { market: false }],
    ["market: off\nlog: [", { market: false }],
    ["market: on", { market: true }],
    ["market: {}", { market: true }],
    ["market:\n  enabled: on\n", { market: true }],
  ];
  for (const [text, change] of rows) {
    assert.deepEqual(marketSettings(text), { ...DEFAULT_MARKET_SETTINGS, ...change }, text);
  }
});
