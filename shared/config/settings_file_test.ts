import assert from "node:assert/strict";
import { numberKind, switchKind } from "./setting_kinds.ts";
import { fileValues, withFileValue } from "./settings_file.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

const TABLE = {
  enabled: {
    key: "market.enabled",
    default: "on",
    description: "",
    kind: switchKind,
    shorthand: true,
  },
  factor: { key: "market.factor", default: "4", description: "", kind: numberKind({ most: 9 }) },
};

function texts(text: string): Record<string, string> {
  const { texts, faults } = fileValues({ path: "f", text }, { table: TABLE });
  assert.deepEqual(faults, []);
  return Object.fromEntries(texts);
}

Deno.test({
  name: "withFileValue() changes one value and keeps comments and the others",
  permissions: PURE,
  fn() {
    const before = "# ours\nmarket:\n  factor: 2 # twice\n";
    const after = withFileValue(before, { key: "market.enabled", value: false });
    assert.match(after, /# ours/);
    assert.match(after, /# twice/);
    assert.deepEqual(texts(after), { "market.factor": "2", "market.enabled": "false" });
    const back = withFileValue(after, { key: "market.enabled", value: true });
    assert.deepEqual(texts(back), { "market.factor": "2", "market.enabled": "true" });
  },
});

Deno.test({
  name: "withFileValue() writes into an empty file, and over a shorthand",
  permissions: PURE,
  fn() {
    for (const before of ["", "market: on\n", "market:\n", "market: {}\n"]) {
      const after = withFileValue(before, { key: "market.enabled", value: false });
      assert.deepEqual(texts(after), { "market.enabled": "false" }, before);
    }
  },
});

Deno.test({
  name: "fileValues() passes over the sections that another program checks",
  permissions: PURE,
  fn() {
    const file = { path: "f", text: "agent: {any: [1]}\nagnt: {}\n" };
    const { faults } = fileValues(file, { table: TABLE, otherSections: ["agent"] });
    assert.deepEqual(faults, ["f: agnt is not a setting; did you mean agent?"]);
  },
});
