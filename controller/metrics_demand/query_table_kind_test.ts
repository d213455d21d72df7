import assert from "node:assert/strict";
import { effectiveSettings } from "../../shared/config/effective_settings.ts";
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
    assert.deepEqual(faults(text), [
      'f: metrics.queries: "Web" is no name of a query, expected a name of at most 63 of a-z, 0-9 ' +
      "and -; jobs has $pod outside of quotes; none is empty",
    ]);
    assert.deepEqual(faults("metrics: {queries: {jobs: 'up{n=\"${namespace}\"}'}}"), [
      "f: metrics.queries: jobs has ${namespace}, expected $namespace",
    ]);
    assert.deepEqual(faults("metrics: {queries: {a: 3, b: [up]}}"), [
      "f: metrics.queries.a is 3, expected a text",
      'f: metrics.queries.b is ["up"], expected a text',
    ]);
    assert.deepEqual(faults("metrics: {queries: up}"), [
      'f: metrics.queries is "up", expected a map of names to texts',
    ]);
    assert.deepEqual(faults("metrics: {prometheusURL: 'http://me:secret@host'}"), [
      "f: metrics.prometheusURL: the address has a user or password in it, which every log would show",
    ]);
  },
});
