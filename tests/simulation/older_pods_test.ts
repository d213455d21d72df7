/** Pods that are older than their namespace's LimitRanges: what the chain foresees, the server does. */
import { pure } from "../fixtures/pure.ts";
import { type ContainerFields, withFields } from "../fixtures/container_fields.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { ApiError } from "../../shared/api/api_error.ts";
import type { LimitRangeItem } from "../../shared/api/namespace.ts";
import { NO_RESOURCES, type Pod, type PodContainer } from "../../shared/api/pod.ts";
import { defined } from "../../shared/defined.ts";
import { seededRandom } from "../../shared/random.ts";
import { decide, MARKET_CHAIN } from "../../shared/resize/chain.ts";
import { resourceRangesOf } from "../../shared/resize/checks/limit_range.ts";
import { qosClassOfPod } from "../../shared/resize/inputs/qos.ts";
import { resizePatch } from "../../shared/resize/patch.ts";
import { checkLimitRanges, writeDefaults } from "../../lab/simulation/api/limit_ranger.ts";
import type { ObjectStore } from "../../lab/simulation/api/object_store.ts";
import { resizePod } from "../../lab/simulation/api/resize_rules.ts";
import { createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import {
  enforcedContainer,
  enforcedPod,
  enforcementInput,
  marketClaim,
} from "../fixtures/market/enforcement_input.ts";

const metadata = { name: "late", namespace: "shop", uid: "", resourceVersion: "" };
const MEMORY = { requests: { memory: 2 ** 20 }, limits: { memory: 2 ** 21 } };

const millicores = fc.integer({ min: 1, max: 60 }).map((steps) => steps * 10);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 3 });

/** A sibling or init container; any of its values may be missing. */
const others: fc.Arbitrary<ContainerFields> = fc.record({
  request: maybe(millicores),
  more: maybe(millicores),
  memory: fc.constantFrom(NO_RESOURCES, MEMORY, MEMORY, MEMORY),
}).map(({ request, more, memory }) => {
  const limit = more === undefined ? {} : { cpu: (request ?? 0) + more };
  return {
    requests: { ...memory.requests, ...(request === undefined ? {} : { cpu: request }) },
    limits: { ...memory.limits, ...limit },
    applied: { requests: {}, limits: limit },
  };
});

const pods: fc.Arbitrary<Pod> = fc.record({
  siblings: fc.array(fc.tuple(others, fc.boolean()), { maxLength: 2 }),
  inits: fc.array(fc.tuple(others, fc.nat({ max: 2 })), { maxLength: 2 }),
  app: fc.tuple(millicores, millicores),
  podLevel: fc.option(
    fc.tuple(millicores, millicores).map(([requestCPU, more]) => ({
      requests: { cpu: requestCPU },
      limits: { cpu: requestCPU + more },
    })),
    { nil: undefined, freq: 5 },
  ),
}).map(({ siblings, inits, app: [request, more], podLevel }) => {
  const bare = (name: string): PodContainer => ({
    ...{ name, sidecar: false, ready: true, restartsOnCPU: false },
    ...{ ...NO_RESOURCES, applied: NO_RESOURCES },
  });
  const limitCPU = request + more;
  const containers = [
    enforcedContainer({
      ...MEMORY,
      name: "c0",
      requests: { ...MEMORY.requests, cpu: request },
      limits: { ...MEMORY.limits, cpu: limitCPU },
      applied: { limits: { cpu: limitCPU } },
    }),
    ...siblings.map(([fields, sidecar], index) =>
      withFields(bare(`c${index + 1}`), { ...fields, sidecar })
    ),
  ].sort((a, b) => Number(a.sidecar) - Number(b.sidecar));
  const sidecars = containers.filter(({ sidecar }) => sidecar).length;
  const initContainers = inits.map(([fields, before], index) =>
    withFields(bare(`i${index}`), { ...fields, sidecarsBefore: Math.min(before, sidecars) })
  );
  const pod = enforcedPod(defined({ containers, initContainers, podLevel }));
  return { ...pod, qosClass: qosClassOfPod(pod) };
});

const items: fc.Arbitrary<LimitRangeItem> = fc.record({
  type: fc.constantFrom("Container" as const, "Pod" as const),
  min: fc.constantFrom(undefined, undefined, 10, 50),
  max: fc.constantFrom(undefined, 400, 900, 2000),
  ratio: fc.constantFrom(undefined, undefined, 2, 5, 20),
  defaults: fc.constantFrom(
    ...Array<undefined>(3).fill(undefined),
    { "limits.cpu": "700m" },
    { "requests.cpu": "10m", "limits.cpu": "700m" },
    { "requests.memory": "1Mi", "limits.memory": "2Mi" },
  ),
}).map(({ defaults, ...item }) =>
  defined({ ...item, defaults: item.type === "Pod" ? undefined : defaults })
);

/** What the server makes of these limits: it refuses, writes more than was asked for, or neither. */
function answerOf(
  store: ObjectStore,
  { pod, limits }: { readonly pod: Pod; readonly limits: ReadonlyMap<string, number> },
): "refused" | "defaults" | "taken" {
  const changes = pod.containers.flatMap(({ name, sidecar }) => {
    const limitCPU = limits.get(name);
    return limitCPU === undefined
      ? []
      : [{ name, sidecar, requests: {}, limits: { cpu: limitCPU } }];
  });
  const asked = resizePod(pod, resizePatch(pod.metadata.uid, changes), { manager: "test" });
  try {
    const after = writeDefaults(store, asked);
    if (after !== asked) return "defaults";
    checkLimitRanges(store, after);
    return "taken";
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return "refused";
  }
}

pure(
  "decide() asks for nothing that LimitRanges refuse or add to, and holds for nothing else",
  () => {
    const clock = createVirtualClock({ wallStart: 0 });
    const counts = { cases: 0, changed: 0, held: 0 };
    fc.assert(
      fc.property(
        pods,
        fc.array(items, { minLength: 1, maxLength: 3 }),
        fc.array(fc.tuple(fc.constantFrom("c0", "c1", "c2"), millicores), { minLength: 1 }),
        (pod, all, raises) => {
          counts.cases++;
          const { store } = createSimulatedAPI({ clock, random: seededRandom(1) });
          store.tables.LimitRange.create({ metadata, items: all });
          const limits = new Map(raises.flatMap(([name, more]) => {
            const found = pod.containers.find((one) => one.name === name);
            return found?.limits.cpu === undefined
              ? []
              : [[name, (found.requests.cpu ?? 0) + more] as const];
          }));
          const limitRange = resourceRangesOf(store.tables.LimitRange.all());
          const { changes, reason } = decide(
            MARKET_CHAIN,
            enforcementInput({
              pod,
              claims: [...limits].map(([name, limit]) => marketClaim(limit, name)),
              ...(limitRange === undefined ? {} : { limitRange }),
            }),
          );
          if (changes.length > 0) {
            counts.changed++;
            const asked = new Map(
              changes.map(({ name, limits: { cpu: limitCPU } }) => [name, limitCPU]),
            );
            assert.equal(answerOf(store, { pod, limits: asked }), "taken");
          } else if (reason === "LimitRange") {
            counts.held++;
            assert.notEqual(answerOf(store, { pod, limits }), "taken");
          }
        },
      ),
    );
    const least = counts.cases / 20;
    assert.ok(counts.changed > least && counts.held > least, JSON.stringify(counts));
  },
);
