import assert from "node:assert/strict";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { numberKind, switchKind, textKind } from "./setting_kinds.ts";
import { fileValues, keyValues, settingsAmong, withFileValue } from "./settings_file.ts";

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
    assertMatches(faults, [/^f: agnt .* agent\?$/]);
  },
});

Deno.test({
  name: "fileValues() takes its own keys from a section that another program checks",
  permissions: PURE,
  fn() {
    const read = (text: string) => {
      const options = { table: { factor: TABLE.factor }, otherSections: ["market"] };
      const { texts, faults } = fileValues({ path: "f", text }, options);
      return [Object.fromEntries(texts), faults.length];
    };
    assert.deepEqual(read("market: {factor: 3, other: [1], more: {a: b}}\n"), [
      { "market.factor": "3" },
      0,
    ]);
    for (const text of ["market: off\n", "market:\n", "market: {}\n"]) {
      assert.deepEqual(read(text), [{}, 0], text);
    }
    assert.deepEqual(read("market: {factor: {a: 1}}\n"), [{}, 1]);
  },
});

const NESTED = {
  window: {
    key: "place.window.opens",
    aliases: ["other.opens"],
    default: "",
    description: "",
    kind: textKind("a time"),
  },
  election: { key: "place.election", default: "", description: "", kind: switchKind },
  elects: { key: "place.election.name", default: "", description: "", kind: textKind("a name") },
  tree: {
    key: "place.tree",
    aliases: ["tree"],
    default: "",
    description: "",
    kind: { ...textKind("a tree"), tree: true as const },
  },
};

Deno.test({
  name: "fileValues() reads maps in sections, and values that are maps themselves",
  permissions: PURE,
  fn() {
    const read = (text: string) => {
      const { texts, faults } = fileValues({ path: "f", text }, { table: NESTED });
      return [Object.fromEntries(texts), faults];
    };
    assert.deepEqual(
      read("place: {window: {opens: 2}, election: {name: a}, tree: {a: [1]}}\ntree: b\n"),
      [{
        "place.window.opens": "2",
        "place.election.name": "a",
        "place.tree": '{"a":[1]}',
        tree: "b",
      }, []],
    );
    assert.deepEqual(read("place: {election: on, window:, tree: [a, b]}\nother: {opens: 3}\n"), [
      { "place.election": "on", "place.tree": "a,b", "other.opens": "3" },
      [],
    ]);
    const wrong = "place: {window: 2, election: {nam: a}, tre: {a: 1}}\n";
    const { texts, faults } = fileValues({ path: "f", text: wrong }, { table: NESTED });
    assert.equal(texts.size, 0);
    assertMatches(faults, [
      /^f: place\.window is 2, .* map /,
      /^f: place\.election\.nam .* place\.election\.name\?$/,
      /^f: place\.tre .* place\.tree\?$/,
    ]);
  },
});

const KEYS_TABLE = {
  dryRun: {
    key: "controller.dryRun",
    default: "false",
    description: "",
    kind: switchKind,
    aliases: ["--dry", "dryRun"],
  },
  level: { key: "log.level", default: "info", description: "", kind: textKind("a level") },
};

const PLACE = { name: "config.yaml", path: "configmap a/b", place: "configmap a/b: data." };

function read(data: Record<string, string>) {
  const { keys } = settingsAmong(data, PLACE) ?? {};
  assert.ok(keys !== undefined);
  return keyValues(keys, KEYS_TABLE);
}

Deno.test({
  name: "settingsAmong() reports the file from the keys beside it, of which either may be missing",
  permissions: "none",
  fn() {
    const { path } = PLACE;
    const keys = { beside: "config.yaml", place: PLACE.place, texts: new Map([["dryRun", "on"]]) };
    assert.equal(settingsAmong({}, PLACE), undefined);
    assert.deepEqual(settingsAmong({ "config.yaml": "" }, PLACE), { path, text: "" });
    assert.deepEqual(settingsAmong({ dryRun: "on" }, PLACE), { path, text: "", keys });
    assert.deepEqual(settingsAmong({ "config.yaml": "market: off", dryRun: "on" }, PLACE), {
      path,
      text: "market: off",
      keys,
    });
  },
});

Deno.test({
  name: "keyValues() takes the table's keys, passes over the other program's, and trims",
  permissions: "none",
  fn() {
    const { texts, faults } = read({ dryRun: " true\n", metricsProvider: "prometheus" });
    assert.deepEqual([[...texts], faults], [[["dryRun", "true"]], []]);
    assert.deepEqual([...read({ dryRun: "\n" }).texts], []);
  },
});

Deno.test({
  name: "keyValues() names what is no key, with what is near and all that there are; never a value",
  permissions: "none",
  fn() {
    const { texts, faults } = read({
      metricProvider: "prometheus",
      "config.yml": "market: off",
      "--dry": "true",
      "log.level": "debug",
      password: "hunter2",
    });
    assert.deepEqual([...texts], []);
    assertMatches(faults, [
      /^configmap a\/b: data\.metricProvider .* metricsProvider\? .*config\.yaml, dryRun, /,
      /^configmap a\/b: data\.config\.yml .* config\.yaml\? .*config\.yaml, dryRun, /,
      /^configmap a\/b: data\.--dry [^?]*config\.yaml, dryRun, /,
      /^configmap a\/b: data\.log\.level [^?]*config\.yaml, dryRun, /,
      /^configmap a\/b: data\.password [^?]*config\.yaml, dryRun, .*reconciliationInterval$/,
    ]);
    assert.ok(!faults.join().includes("hunter2"));
  },
});
