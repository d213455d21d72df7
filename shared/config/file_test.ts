import fc from "fast-check";
import assert from "node:assert/strict";
import * as z from "zod";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure, pureYAML } from "../../tests/fixtures/pure.ts";
import { formatDuration } from "../duration.ts";
import { fileValues, keyValues, settingsAmong, withFileValue } from "./file.ts";
import {
  addressKind,
  choiceKind,
  cpuKind,
  durationKind,
  type Kind,
  listenKind,
  numberKind,
  optionalKind,
  refusalOf,
  switchKind,
  termsKind,
  textKind,
  valueOf,
} from "./kinds.ts";
import { labelSelectorKind, namedTableKind, treeKind } from "./map_kinds.ts";
import { DRY_RUN_SETTING, MARKET_SETTING } from "./schema.ts";
import {
  labelMatchersKind,
  loginFilesKind,
  requestHeadersKind,
  serverURLKind,
} from "./server_kinds.ts";
import { type Setting, setting, settingOf } from "./setting.ts";

function settings(kinds: Readonly<Record<string, Kind<unknown>>>): readonly Setting[] {
  return Object.entries(kinds).map(([key, kind]) =>
    settingOf(setting(key, { kind: kind, default: "", description: "" }))
  );
}

const FACTOR = settings({ "market.factor": numberKind({ max: 9 }) });
const SETTINGS = [settingOf(MARKET_SETTING), ...FACTOR];

function texts(text: string): Record<string, string> {
  const { texts, faults } = fileValues({ path: "f", text }, { settings: SETTINGS });
  assert.deepEqual(faults, []);
  return Object.fromEntries(texts);
}

pureYAML("withFileValue() changes one value of any file, and keeps comments and the others", () => {
  const before = "# ours\nmarket:\n  factor: 2 # twice\n";
  const after = withFileValue(before, { key: "market.enabled", value: false });
  assert.match(after, /# ours[^]*# twice/);
  assert.deepEqual(texts(after), { "market.factor": "2", "market.enabled": "false" });
  const back = withFileValue(after, { key: "market.enabled", value: true });
  assert.deepEqual(texts(back), { "market.factor": "2", "market.enabled": "true" });
  for (const short of ["", "market: on\n", "market:\n", "market: {}\n"]) {
    const written = withFileValue(short, { key: "market.enabled", value: false });
    assert.deepEqual(texts(written), { "market.enabled": "false" }, short);
  }
});

pureYAML("fileValues() takes its own keys alone from sections that another program checks", () => {
  const file = { path: "f", text: "agent: {any: [1]}\nagnt: {}\n" };
  const { faults } = fileValues(file, { settings: SETTINGS, ignoredSections: ["agent"] });
  assertMatches(faults, [/^f: agnt .* agent\?$/]);
  const read = (text: string) => {
    const options = { settings: FACTOR, ignoredSections: ["market"] };
    const { texts, faults } = fileValues({ path: "f", text }, options);
    return [Object.fromEntries(texts), faults.length];
  };
  const found = read("market: {factor: 3, other: [1], more: {a: b}}\n");
  assert.deepEqual(found, [{ "market.factor": "3" }, 0]);
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
  "place.texts": namedTableKind({ expects: "", noun: "", read: (value) => ({ value }) }),
  "placement.nodeClassifier": tree,
});

pureYAML("fileValues() reads maps in sections, and values that are maps themselves", () => {
  const read = (text: string) => {
    const { texts, faults } = fileValues({ path: "f", text }, { settings: NESTED });
    return [Object.fromEntries(texts), faults] as const;
  };
  const texts =
    "place: {window: {opens: 2}, election: {name: a}, tree: {a: [1]}, texts: {b: c}}\n" +
    "nodeLabels: b\nplacement: {nodeLabels: 3}\n";
  assert.deepEqual(read(texts), [{
    ...{ "place.window.opens": "2", "place.election.name": "a", "place.tree": '{"a":[1]}' },
    ...{ "place.texts": '{"b":"c"}', nodeLabels: "b", "placement.nodeLabels": "3" },
  }, []]);
  const short = { "place.election": "on", "place.tree": "a,b" };
  assert.deepEqual(read("place: {election: on, window:, tree: [a, b]}\n"), [short, []]);
  const wrong = "place: {window: 2, election: {nam: a}, tre: {a: 1}}\n";
  const [none, faults] = read(wrong);
  assert.deepEqual(none, {});
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
  const both = settingsAmong({ "config.yaml": "market: off", dryRun: "on" }, PLACE);
  assert.deepEqual(both, { path, text: "market: off", keys });
});

pure("keyValues() takes the settings' keys, ignores the other program's, and trims", () => {
  const { texts, faults } = read({ dryRun: " true\n", metricsProvider: "prometheus" });
  assert.deepEqual([[...texts], faults], [[["dryRun", "true"]], []]);
  assert.deepEqual([...read({ dryRun: "\n" }).texts], []);
});

pure("keyValues() names unknown keys with near and valid ones, never a value", () => {
  const { texts, faults } = read({
    ...{ metricProvider: "prometheus", "config.yml": "market: off", "--dry-run": "true" },
    ...{ "log.level": "debug", password: "hunter2" },
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

const header = (name: string, value: string): string => JSON.stringify({ [name]: value });
const matchLabels = { team: "shop", "example.com/stage": "" };
const matchExpressions = [{ key: "tier", operator: "In", values: ["a", "b"] }];

pure("each kind reads its values", () => {
  const rows: readonly (readonly [Kind<unknown>, Readonly<Record<string, unknown>>])[] = [
    [numberKind({ min: 1, max: 10, whole: true }), { "1": 1, "10": 10 }],
    [numberKind({ max: 1 }), { ".5": 0.5, "1.": 1 }],
    [cpuKind, { "500m": 500, "2": 2000 }],
    [switchKind, { on: true, true: true, off: false, false: false }],
    [choiceKind(["OptIn", "OptOut"]), { OptIn: "OptIn" }],
    [textKind("a name"), { x: "x" }],
    [optionalKind(textKind("a name")), { x: "x", "": null }],
    [termsKind("names", /^[a-z]+$/), { "a, b,,c": ["a", "b", "c"], "": [] }],
    [listenKind, {
      ...{ ":8080": ":8080", "8080": ":8080", "127.0.0.1:0": "127.0.0.1:0" },
      ...{ "[::1]:8080": "[::1]:8080", "localhost:65535": "localhost:65535" },
    }],
    [addressKind, { "10.0.0.1": "10.0.0.1", "::1": "::1", "fd00::a:1": "fd00::a:1" }],
    [labelSelectorKind, {
      "team=shop, example.com/stage=": { matchLabels, matchExpressions: [] },
      [JSON.stringify({ matchLabels, matchExpressions })]: { matchLabels, matchExpressions },
    }],
    [serverURLKind, {
      "http://prometheus.monitoring:9090": "http://prometheus.monitoring:9090",
      "https://metrics.example.com/": "https://metrics.example.com",
      "http://10.0.0.7/prometheus/": "http://10.0.0.7/prometheus",
      "http://[fd00::1]:9090": "http://[fd00::1]:9090",
    }],
    [loginFilesKind, {
      "": {},
      "tokenFile=/a/token  caFile=/a/ca.crt": { tokenFile: "/a/token", caFile: "/a/ca.crt" },
      "passwordFile=/a/b=c user=reader": { user: { name: "reader", passwordFile: "/a/b=c" } },
    }],
    [requestHeadersKind, {
      "": new Map(),
      [header("X-Scope-OrgID", "shop|bank")]: new Map([["X-Scope-OrgID", "shop|bank"]]),
      [header("x-stage", "a b")]: new Map([["x-stage", "a b"]]),
    }],
    [labelMatchersKind, {
      "": [],
      'cluster="prod"': ['cluster="prod"'],
      ' cluster = "prod" , stage !~ "dev|te.t" ': ['cluster="prod"', 'stage!~"dev|te.t"'],
      'a!="x",b=~"y,z"': ['a!="x"', 'b=~"y,z"'],
      'cluster="say \\"hi\\" \\\\d"': ['cluster="say \\"hi\\" \\\\d"'],
    }],
  ];
  for (const [kind, values] of rows) {
    for (const [text, value] of Object.entries(values)) {
      assert.deepEqual(valueOf(kind, text), value, text);
    }
  }
});

pure("each kind refuses all else", () => {
  const matchers = [
    ...["cluster=prod", 'cluster="prod"} or up{a="b"', 'cluster="prod",', ',cluster="prod"', " "],
    ...['cluster="prod" stage="live"', "cluster='prod'", 'cluster=="prod"', '1cluster="prod"'],
    ...['cluster="a\nb"', 'namespace="shop"', 'cluster="prod",pod=~".*"', '__name__="up"', "prod"],
  ];
  const rows: readonly (readonly [Kind<unknown>, readonly string[]])[] = [
    [numberKind({ min: 1, max: 10, whole: true }), ["0", "11", "1.5", "1e0", "0x2", ""]],
    [cpuKind, ["", "-1", "much", "1E"]],
    [durationKind({ minMs: 10, maxMs: 60_000 }), [
      ...["", "5", "9ms", "61s", "1d", "-1s", "1s ", "Infinity", "1m1s", "99999999999h"],
    ]],
    [switchKind, ["yes", "toString", "ON"]],
    [choiceKind(["OptIn", "OptOut"]), ["optin", ""]],
    [textKind("a name"), [""]],
    [optionalKind(numberKind({ max: 1 })), ["2"]],
    [termsKind("names", /^[a-z]+$/), ["a,B"]],
    [listenKind, ["0", "08080", "65536", "https", ":", ":65536", "a b:1", "::1:8080"]],
    [addressKind, ["", "256.0.0.1", "10.0.0", "node-1", "[::1]", "::g", "10.0.0.1:80"]],
    [labelSelectorKind, ["team", "=shop", "team=a b"]],
    [serverURLKind, ["", "prometheus:9090", "file:///etc/passwd", "http://", "http://h?q=up"]],
    [serverURLKind, ["http://host/#part"]],
    [labelMatchersKind, matchers],
  ];
  for (const [kind, texts] of rows) {
    for (const text of texts) {
      assert.equal(valueOf(kind, text), undefined, text);
      assert.equal(refusalOf(kind, text), undefined, text);
    }
  }
});

const sizeKind = treeKind({
  expects: "a size or a map",
  schema: () =>
    z.strictObject({ size: z.int(), inner: z.strictObject({ a: z.string() }).optional() }),
  shortForm: (text) => /^\d+$/.test(text) ? { size: Number(text) } : undefined,
});

pure("kinds explain why they refuse a text, and show nothing that may be a secret", () => {
  assert.deepEqual(["4", '{"size": 3}'].map((text) => valueOf(sizeKind, text)), [
    { size: 4 },
    { size: 3 },
  ]);
  const wrong = '{"size": 1.5, "inner": {"a": 1, "b": 2}, "sise": 1}';
  const misspelt = '{"matchExpressions": [{"key": "a", "operator": "Exists", "valeus": []}]}';
  const operator = '{"matchExpressions": [{"key": "a", "operator": "Has"}]}';
  const secrets = ["Authorization", "Cookie", "X-Api-Key", "X-Auth", "Private-Token", "Password"];
  const present = ["Host", "accept-encoding", "Content-Length", "Transfer-Encoding"];
  const names = ["", "X Scope", "X:Scope", "X-Übung", "-x", "x".repeat(64)];
  const values = ["", " ", " a", "a ", "a\nb", "a\r\nHost: b", "ü", "x".repeat(257)];
  const rows: readonly (readonly [Kind<unknown>, readonly string[], RegExp])[] = [
    [sizeKind, ["{size: 1}"], /^is not JSON: /],
    [sizeKind, [wrong], /^size is 1\.5: [^;]*; inner\.a is 1: [^;]*; inner\.b [^;]*; sise [^;]*$/],
    [labelSelectorKind, ['{"matchLabel": {"a": "b"}}'], /^matchLabel /],
    [labelSelectorKind, [misspelt], /^matchExpressions\[0\]\.valeus /],
    [labelSelectorKind, [operator], /^matchExpressions\[0\]\.operator is "Has": .*DoesNotExist$/],
    [labelSelectorKind, ['{"matchLabels": {"-a": "b"}}'], /labels' keys/],
    [serverURLKind, ["http://me:hunter2@host", "http://hunter2@host"], /user or password/],
    [loginFilesKind, ["hunter2", "token=hunter2"], /tokenFile=, user=, passwordFile=, caFile=$/],
    [loginFilesKind, ["tokenFile=hunter2"], /^tokenFile .* path /],
    [requestHeadersKind, secrets.map((name) => header(name, "hunter2")), / secret, /],
    [requestHeadersKind, present.map((name) => header(name, "hunter2")), / has already$/],
    [requestHeadersKind, names.map((name) => header(name, "hunter2")), / not the name of /],
    [requestHeadersKind, values.map((value) => header("X-Scope", value)), /^X-Scope [^\n]*$/],
  ];
  for (const [kind, texts, pattern] of rows) {
    for (const text of texts) {
      assert.equal(valueOf(kind, text), undefined, text);
      assert.match(refusalOf(kind, text) ?? "", pattern);
      assert.doesNotMatch(refusalOf(kind, text) ?? "", /hunter2|Host: b/);
    }
  }
});

forAll("durationKind() reads back what formatDuration() writes", [fc.nat(1e9)], (ms) => {
  assert.equal(valueOf(durationKind({ minMs: 0, maxMs: 1e9 }), formatDuration(ms)), ms);
  const texts = [0, 90_000, 120_000, 3_600_000, 1500].map(formatDuration);
  assert.deepEqual(texts, ["0s", "90s", "2m", "1h", "1500ms"]);
  const fractions = ["4.1s", "0.07m", "1.5h"].map((text) =>
    valueOf(durationKind({ minMs: 0, maxMs: 1e9 }), text)
  );
  assert.deepEqual(fractions, [4100, 4200, 5_400_000]);
}, 1);
