import assert from "node:assert/strict";
import { bidFacts, FACTS_NOW_MS } from "../../../tests/fixtures/market/bid_facts.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { sampleContainer, samplePod } from "../../../tests/contract/support/sample_objects.ts";
import type { MetricFact } from "../../metrics_demand/metric_fact.ts";
import { type BoundsDraft, boundsOf } from "../bounds/bounds.ts";
import { metricDemand } from "./metric_demand.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const POD = samplePod("web", {
  containers: ["app", "proxy"].map((name) => sampleContainer({ name, containerID: `c://${name}` })),
});
const UNTIL_MS = FACTS_NOW_MS + 60_000;

function draft(metric: MetricFact | undefined): BoundsDraft {
  return boundsOf({
    ...bidFacts(POD, { metric }),
    originalLimits: new Map([["app", 200], ["proxy", 200]]),
    burstFactor: 4,
    priorityMultiplier: () => 1,
  });
}

test("metricDemand() gives each container its part, until the value is too old", () => {
  const demand = new Map([["app", 700], ["proxy", 0]]);
  const source = "query jobs";
  const { containers, rules, reason, warnings, untilMs } = draft({
    demand,
    source,
    untilMs: UNTIL_MS,
  });
  assert.deepEqual(containers.map(({ demand }) => demand), [700, undefined]);
  assert.deepEqual(containers.map(({ ceiling }) => ceiling), [800, 800]);
  assert.equal(untilMs, UNTIL_MS);
  assert.match(reason, /MetricDemand/);
  assert.ok(rules.some(({ message }) => /app.*700m.*query jobs/.test(message)));
  assert.deepEqual(warnings, []);
});

test("metricDemand() divides a pod's cores by the requests that its user has written", () => {
  const says = { demand: 0.6, source: "query jobs", untilMs: UNTIL_MS };
  const demands = (input: Parameters<typeof boundsOf>[0]) =>
    boundsOf(input).containers.map(({ demand }) => demand);
  const input = {
    ...bidFacts(POD, { metric: says }),
    originalLimits: new Map([["app", 200], ["proxy", 200]]),
    burstFactor: 4,
    priorityMultiplier: () => 1,
  };
  assert.deepEqual(demands(input), [300, 300]);
  // The requests of a Guaranteed pod move with its limits.
  const moved = [
    sampleContainer({
      name: "app",
      containerID: "c://app",
      requests: { cpu: 500 },
      limits: { cpu: 500 },
    }),
    ...POD.containers.slice(1),
  ];
  const guaranteed: Pod = { ...POD, qosClass: "Guaranteed", containers: moved };
  const ownRequests = new Map([["app", 200], ["proxy", 100]]);
  assert.deepEqual(demands({ ...input, pod: guaranteed, ownRequests }), [400, 200]);
});

test("metricDemand() asks for nothing where there is no value, and warns of what people can mend", () => {
  const passing = draft({ missing: "query jobs: connection refused", fault: false });
  assert.deepEqual(passing.containers.map(({ demand }) => demand), [undefined, undefined]);
  assert.match(passing.reason, /MetricMissing/);
  assert.deepEqual([passing.warnings, passing.untilMs], [[], undefined]);
  const missing = "query jobs: several series";
  const lasting = draft({ missing, fault: true });
  assert.match(lasting.reason, /MetricMissing/);
  assert.deepEqual(lasting.warnings, [missing]);
});

test("metricDemand() leaves an annotation that can't count to its warning", () => {
  const [ignored, none] = [draft({ ignored: "no such query" }), draft(undefined)];
  assert.deepEqual([ignored.rules, ignored.containers], [none.rules, none.containers]);
  assert.deepEqual(ignored.warnings, ["no such query"]);
});

test("metricDemand() says nothing of a pod that names no query", () => {
  assert.deepEqual(metricDemand(bidFacts(POD)), []);
  const { containers, reason } = draft(undefined);
  assert.deepEqual(containers.map(({ demand }) => demand), [undefined, undefined]);
  assert.ok(!reason.includes("Metric"));
});
