import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { DRY_RUN_SETTING, MARKET_SETTING } from "./schema.ts";
import { namedTableKind, treeKind } from "./map_kinds.ts";
import { type Kind, numberKind, switchKind, textKind } from "./kinds.ts";
import { fileValues, keyValues, settingsAmong, withFileValue } from "./file.ts";
import { type Setting, setting, settingOf } from "./setting.ts";
import * as z from "zod";

/** The YAML parser looks at two variables for its own debugging. */
function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] }, fn });
}

function settings(kinds: Readonly<Record<string, Kind<unknown>>>): readonly Setting[] {
  return Object.entries(kinds).map(([key, kind]) =>
    settingOf(setting(key, { kind: kind, default: "", description: "" }))
  );
}

const FACTOR = settings({ "market.factor": numberKind({ most: 9 }) });
const SETTINGS = [settingOf(MARKET_SETTING), ...FACTOR];

function texts(text: string): Record<string, string> {
  const { texts, faults } = fileValues({ path: "f", text }, { settings: SETTINGS });
  assert.deepEqual(faults, []);
  return Object.fromEntries(texts);
}

test("withFileValue() changes one value and keeps comments and the others", () => {
  const before = "# ours\nmarket:\n  factor: 2 # twice\n";
  const after = withFileValue(before, { key: "market.enabled", value: false });
  assert.match(after, /# ours/);
  assert.match(after, /# twice/);
  assert.deepEqual(texts(after), { "market.factor": "2", "market.enabled": "false" });
  const back = withFileValue(after, { key: "market.enabled", value: true });
  assert.deepEqual(texts(back), { "market.factor": "2", "market.enabled": "true" });
});

test("withFileValue() writes into an empty file, and over a shorthand", () => {
  for (const before of ["", "market: on\n", "market:\n", "market: {}\n"]) {
    const after = withFileValue(before, { key: "market.enabled", value: false });
    assert.deepEqual(texts(after), { "market.enabled": "false" }, before);
  }
});

test("fileValues() ignores the sections that another program checks", () => {
  const file = { path: "f", text: "agent: {any: [1]}\nagnt: {}\n" };
  const { faults } = fileValues(file, { settings: SETTINGS, otherSections: ["agent"] });
  assertMatches(faults, [/^f: agnt .* agent\?$/]);
});

test("fileValues() takes its own keys from a section that another program checks", () => {
  const read = (text: string) => {
    const options = { settings: FACTOR, otherSections: ["market"] };
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
});

const tree = treeKind({ expects: "", schema: () => z.unknown(), shortForm: (text) => text });
const NESTED = settings({
  "place.window.opens": textKind("a time"),
  "place.election": switchKind,
  "place.election.name": textKind("a name"),
  "place.tree": tree,
  "place.texts": namedTableKind({ expects: "", of: "", read: (value) => ({ value }) }),
  "placement.nodeClassifier": tree,
});

test("fileValues() reads maps in sections, and values that are maps themselves", () => {
  const read = (text: string) => {
    const { texts, faults } = fileValues({ path: "f", text }, { settings: NESTED });
    return [Object.fromEntries(texts), faults];
  };
  assert.deepEqual(
    read(
      "place: {window: {opens: 2}, election: {name: a}, tree: {a: [1]}, texts: {b: c}}\n" +
        "nodeLabels: b\nplacement: {nodeLabels: 3}\n",
    ),
    [{
      "place.window.opens": "2",
      "place.election.name": "a",
      "place.tree": '{"a":[1]}',
      "place.texts": '{"b":"c"}',
      nodeLabels: "b",
      "placement.nodeLabels": "3",
    }, []],
  );
  assert.deepEqual(read("place: {election: on, window:, tree: [a, b]}\n"), [
    { "place.election": "on", "place.tree": "a,b" },
    [],
  ]);
  const wrong = "place: {window: 2, election: {nam: a}, tre: {a: 1}}\n";
  const { texts, faults } = fileValues({ path: "f", text: wrong }, { settings: NESTED });
  assert.equal(texts.size, 0);
  assertMatches(faults, [
    /^f: place\.window is 2, .* map /,
    /^f: place\.election\.nam .* place\.election\.name\?$/,
    /^f: place\.tre .* place\.tree\?$/,
  ]);
});

const KEYED = [settingOf(DRY_RUN_SETTING), ...settings({ "log.level": textKind("a level") })];

const PLACE = { name: "config.yaml", path: "configmap a/b", place: "configmap a/b: data." };

function read(data: Record<string, string>) {
  const { keys } = settingsAmong(data, PLACE) ?? {};
  assert.ok(keys !== undefined);
  return keyValues(keys, KEYED);
}

pure("settingsAmong() reports the file from the keys beside it", () => {
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
});

pure("keyValues() takes the settings' keys, ignores the other program's, and trims", () => {
  const { texts, faults } = read({ dryRun: " true\n", metricsProvider: "prometheus" });
  assert.deepEqual([[...texts], faults], [[["dryRun", "true"]], []]);
  assert.deepEqual([...read({ dryRun: "\n" }).texts], []);
});

pure("keyValues() names unknown keys with near and valid ones, never a value", () => {
  const { texts, faults } = read({
    metricProvider: "prometheus",
    "config.yml": "market: off",
    "--dry-run": "true",
    "log.level": "debug",
    password: "hunter2",
  });
  assert.deepEqual([...texts], []);
  assertMatches(faults, [
    /^configmap a\/b: data\.metricProvider .* metricsProvider\? .*config\.yaml, dryRun, /,
    /^configmap a\/b: data\.config\.yml .* config\.yaml\? .*config\.yaml, dryRun, /,
    /^configmap a\/b: data\.--dry-run .*config\.yaml, dryRun, /,
    /^configmap a\/b: data\.log\.level [^?]*config\.yaml, dryRun, /,
    /^configmap a\/b: data\.password [^?]*config\.yaml, dryRun, .*reconciliationInterval$/,
  ]);
  assert.ok(!faults.join().includes("hunter2"));
});
