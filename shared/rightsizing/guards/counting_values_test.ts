import assert from "node:assert/strict";
import {
  autoPolicy,
  bareContainer,
  type FactsChoice,
  MI,
  rightsizingFacts,
  sized,
  templateContainer,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { sampleHPA, sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import type { QuotaRoom } from "../../resize/checks/resource_quota.ts";
import type { AmountRange } from "../../resize/inputs/resize_input.ts";
import { describeWanted } from "../../resize/inputs/resources.ts";
import type { ValuesInForce } from "../workload_record.ts";
import { countingValues } from "./counting_values.ts";

const LIMITS = { strategy: { updateRequestsOnly: false } };
const IN_FORCE: ValuesInForce = {
  container: "app",
  cpu: 150,
  memory: 96 * MI,
  cpuLimit: 180,
  memoryLimit: 112 * MI,
};
const ADOPTED = {
  ...IN_FORCE,
  adoptedOn: { cpu: 100, memory: 64 * MI, cpuLimit: 200, memoryLimit: 128 * MI },
};
const CPU = "app cpu 150m (limit 180m)";
const MEMORY = "app memory 96Mi (limit 112Mi)";
const ALL = `${CPU}, ${MEMORY}`;
const peak = (mebibytes: number) => ({ memoryPeaks: new Map([["app", mebibytes * MI]]) });

/** What counts of the values, and of how many messages it is. */
function counting(choice: FactsChoice = LIMITS, inForce: ValuesInForce = ADOPTED): string {
  const { values, messages } = countingValues([inForce], rightsizingFacts(choice));
  return `${messages.length}: ${describeWanted(values)}`;
}

pure("countingValues() drops what another party has changed", () => {
  const editedMemory = [
    templateContainer({ requests: { memory: 1024 * MI } }),
    templateContainer({ limits: { memory: 4096 * MI } }),
    sized([100, 64], [200]),
  ];
  const sidecar = [templateContainer({ name: "web" }), templateContainer({ sidecar: true })];
  // Less than the least may be all that a quota has left room for.
  const cpuBounds = { cpu: { min: 10, max: 120 }, memory: { min: 100 * MI, max: 4096 * MI } };
  const memoryBounds = { cpu: { min: 10, max: 4000 }, memory: { min: MI, max: 80 * MI } };
  const narrow = { policy: autoPolicy(LIMITS.strategy, { bounds: memoryBounds }) };
  const wide = { ...LIMITS, containers: [sized([100, 1024], [200, 2048])] };
  const vpa = (mode: string) => ({ ...LIMITS, verticalAutoscalers: [sampleVPA(mode)] });
  const withHPA = { updateRequestsOnly: false, allowWithHPA: true };
  const rows: readonly (readonly [FactsChoice, ValuesInForce, string])[] = [
    [LIMITS, ADOPTED, `0: ${ALL}`],
    [LIMITS, IN_FORCE, `0: ${ALL}`],
    [{}, ADOPTED, "1: app cpu 150m, app memory 96Mi"],
    ...editedMemory.map((one) => [{ ...LIMITS, containers: [one] }, ADOPTED, `1: ${CPU}`] as const),
    [{ ...LIMITS, containers: editedMemory.slice(1, 2) }, IN_FORCE, `0: ${ALL}`],
    [{ ...LIMITS, containers: sidecar }, ADOPTED, "1: "],
    [{ ...LIMITS, containers: sidecar.slice(0, 1) }, ADOPTED, "1: "],
    [
      { policy: autoPolicy(LIMITS.strategy, { bounds: cpuBounds }) },
      ADOPTED,
      `1: app cpu 120m (limit 120m), ${MEMORY}`,
    ],
    // Memory is lowered for narrower bounds only where the recent peak allows it.
    [{ ...narrow, ...peak(60) }, ADOPTED, `1: ${CPU}, app memory 80Mi (limit 88Mi)`],
    [{ ...narrow, ...peak(75) }, ADOPTED, `0: ${ALL}`],
    [{ ...narrow, memoryPeaks: new Map() }, ADOPTED, `0: ${ALL}`],
    // Nor is it below the recent peak + 15 %, as far as the author has given more.
    [{ ...wide, ...peak(80) }, IN_FORCE, `0: ${ALL}`],
    [{ ...wide, ...peak(100) }, IN_FORCE, `1: ${CPU}, app memory 132644864 (limit 132644864)`],
    [{ ...LIMITS, ...peak(120) }, ADOPTED, `1: ${CPU}, app memory 96Mi (limit 128Mi)`],
    [vpa("Off"), ADOPTED, `0: ${ALL}`],
    ...["Initial", "Recreate", "Auto", "InPlaceOrRecreate"].map((mode) =>
      [vpa(mode), ADOPTED, "1: "] as const
    ),
    [{ ...LIMITS, autoscalers: [sampleHPA()] }, ADOPTED, `1: ${MEMORY}`],
    [{ strategy: withHPA, autoscalers: [sampleHPA()] }, ADOPTED, `0: ${ALL}`],
  ];
  assert.deepEqual(
    rows.map(([choice, inForce]) => counting(choice, inForce)),
    rows.map(([, , expected]) => expected),
  );
});

const range = (max: number) => ({ min: 0, max, ratio: Infinity });
const ANY = range(Infinity);

pure("countingValues() cuts to what the server takes of one new pod", () => {
  const open = [sized([100, 64])];
  const limited = [bareContainer("app", { requests: { cpu: 100 }, limits: { cpu: 150 } })];
  const high = [sized([900, 64], [900, 128])];
  const guaranteed = [sized([100, 1], [100, 1])];
  const within = (container: AmountRange, pod: AmountRange) => ({
    ...LIMITS,
    containers: limited,
    ranges: { cpu: { container, pod } },
  });
  const quota = (room: number, of: QuotaRoom["of"] = "requests") => ({
    quotas: [{ name: "q", resource: "cpu", of, room } as const],
  });
  const on = (allocatableCPU: number) => ({
    largestNode: { allocatableCPU, allocatableMemory: Infinity },
  });
  const cpu = { container: "app", cpu: 500 };
  const both = { ...cpu, cpuLimit: 600 };
  const rows: readonly (readonly [FactsChoice, ValuesInForce, string])[] = [
    [{}, cpu, "0: app cpu 500m"],
    // Whatever holds for running pods.
    [{ resizeServed: false, dryRun: true, pods: [] }, cpu, "0: app cpu 500m"],
    [within(ANY, ANY), both, "0: app cpu 500m (limit 600m)"],
    [within(range(200), ANY), both, "1: app cpu 200m (limit 200m)"],
    [within(ANY, range(300)), both, "1: app cpu 300m (limit 300m)"],
    // A value that was not asked to change lies outside: no other value helps.
    [{ ranges: { memory: { container: range(32 * MI), pod: ANY } } }, cpu, "1: "],
    [quota(500), cpu, "0: app cpu 500m"],
    [quota(499), cpu, "1: app cpu 499m"],
    // What it has without us takes all.
    [quota(100), cpu, "1: app cpu 100m"],
    [quota(-7), cpu, "1: app cpu 100m"],
    // A decrease takes nothing.
    [{ ...quota(0), containers: high }, cpu, "0: app cpu 500m"],
    [quota(0, "limits"), cpu, "0: app cpu 500m"],
    [on(500), cpu, "0: app cpu 500m"],
    [on(400), cpu, "1: app cpu 400m"],
    [on(50), cpu, "1: app cpu 100m"],
    [{ containers: [templateContainer()] }, cpu, "1: app cpu 200m"],
    [{ containers: guaranteed }, cpu, "1: "],
    [{ containers: [bareContainer("app", {})] }, cpu, "1: "],
  ];
  assert.deepEqual(
    rows.map(([choice, inForce]) => counting({ containers: open, ...choice }, inForce)),
    rows.map(([, , expected]) => expected),
  );
});
