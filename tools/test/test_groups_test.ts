import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { groupModule, projectPath, selectedTests, testGroups } from "./test_groups.ts";

const FILES = [
  "agent/main.ts",
  "agent/main_test.ts",
  "shared/market/solver_test.ts",
  "shared/market_test.ts",
  "tests/browser/page_test.ts",
  "tests/cluster/harness/machine_test.ts",
  "tests/cluster/market_test.ts",
  "tests/long/stability_test.ts",
  "tests/prometheus/queries_test.ts",
  "tests/release/chart_test.ts",
];

pure("selectedTests() leaves out what needs a cluster, a browser, Prometheus or time", () => {
  const short = [
    "agent/main_test.ts",
    "shared/market/solver_test.ts",
    "shared/market_test.ts",
    "tests/cluster/harness/machine_test.ts",
  ];
  assert.deepEqual(selectedTests(FILES, { paths: [], long: false }), short);
  assert.deepEqual(
    selectedTests(FILES, { paths: [], long: true }),
    [...short, "tests/long/stability_test.ts"],
  );
});

pure("selectedTests() takes files and folders, and refuses a path without tests", () => {
  const at = (...paths: string[]): string[] => selectedTests(FILES, { paths, long: false });
  assert.deepEqual(at("shared/market"), ["shared/market/solver_test.ts"]);
  assert.deepEqual(at("tests/long", "agent/main_test.ts"), [
    "agent/main_test.ts",
    "tests/long/stability_test.ts",
  ]);
  assert.throws(() => at("agent", "tests/browser"), /RangeError.*tests\/browser/);
});

pure("testGroups() has each file once, the last ones first, in groups of about one size", () => {
  fc.assert(fc.property(fc.nat(300), fc.integer({ min: 1, max: 60 }), (count, size) => {
    const files = Array.from({ length: count }, (_, i) => `f${i}_test.ts`);
    const groups = testGroups(files, size);
    assert.deepEqual(groups.flat(), files.toReversed());
    const sizes = groups.map((group) => group.length);
    assert.ok(sizes.every((length) => length <= size && length >= Math.max(...sizes) - 1));
  }));
});

pure("projectPath() takes paths as people and shells write them", () => {
  const root = new URL("file:///work/p/");
  const paths = ["./a/b/", "a/b", "/work/p/a/b", "x/../a/b", "a\\b"];
  assert.deepEqual(paths.map((path) => projectPath(path, root)), paths.map(() => "a/b"));
  assert.deepEqual([".", "./", "/work/p"].map((path) => projectPath(path, root)), ["", "", ""]);
  assert.equal(projectPath("/elsewhere", root), "/elsewhere");
});

pure(
  "groupModule() imports each file of the group, and a file that cannot be loaded fails alone",
  () => {
    const source = groupModule(["a_test.ts", "b/c_test.ts"], new URL("file:///p/"));
    assert.match(source, /^await import\("file:\/\/\/p\/a_test\.ts"\)\.catch\(.*"a_test\.ts"/m);
    assert.match(
      source,
      /^await import\("file:\/\/\/p\/b\/c_test\.ts"\)\.catch\(.*"b\/c_test\.ts"/m,
    );
  },
);
