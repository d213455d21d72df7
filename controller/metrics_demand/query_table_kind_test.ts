import assert from "node:assert/strict";
import { effectiveSettings } from "../../shared/config/load.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { CONTROLLER_SETTINGS } from "../settings.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

function settings(text: string) {
  return effectiveSettings(CONTROLLER_SETTINGS, { file: { path: "f", text } });
}

function faults(text: string): readonly string[] {
  const read = settings(text);
  assert.ok("faults" in read, text);
  return read.faults;
}

Deno.test({
  name: "queryTableKind takes a map of the file, and none where nothing is said",
  permissions: PURE,
  fn() {
    const text = `
metrics:
  prometheusURL: http://prometheus.monitoring:9090/
  queries:
    web: sum(busy{pod="$pod"})
    jobs: |
      vector(2) # cores, "always"
`;
    const read = settings(text);
    assert.ok(!("faults" in read), JSON.stringify(read));
    const { prometheusURL, metricQueries } = read.values;
    assert.equal(prometheusURL, "http://prometheus.monitoring:9090");
    assert.deepEqual([...metricQueries.keys()], ["web", "jobs"]);
    for (const empty of ["", "metrics:\n", "metrics: {queries: }\n", "metrics: {queries: {}}\n"]) {
      const none = settings(empty);
      assert.ok(!("faults" in none));
      assert.equal(none.values.metricQueries.size, 0);
      assert.equal(none.values.prometheusURL, null);
    }
  },
});

Deno.test({
  name: "queryTableKind names each query that it refuses",
  permissions: PURE,
  fn() {
    const text = "metrics: {queries: {Web: up, jobs: '$pod', ok: up, none: ''}}";
    assertMatches(faults(text), [
      /^f: metrics\.queries: "Web" [^;]*; jobs has \$pod [^;]*; none [^;]*$/,
    ]);
    assertMatches(faults("metrics: {queries: {jobs: 'up{n=\"${namespace}\"}'}}"), [
      /^f: metrics\.queries: jobs has \$\{namespace\}, .* \$namespace$/,
    ]);
    assertMatches(faults("metrics: {queries: {a: 3, b: [up]}}"), [
      /^f: metrics\.queries\.a is 3, /,
      /^f: metrics\.queries\.b is \["up"\], /,
    ]);
    assertMatches(faults("metrics: {queries: up}"), [/^f: metrics\.queries is "up", .* map /]);
    const [fault = "", ...others] = faults("metrics: {prometheusURL: 'http://me:secret@host'}");
    assert.match(fault, /^f: metrics\.prometheusURL: .* password /);
    assert.deepEqual([fault.includes("secret"), others], [false, []]);
  },
});
