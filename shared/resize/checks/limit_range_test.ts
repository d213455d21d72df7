import { withFields } from "../../../tests/fixtures/container_fields.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  cpuRanges,
  enforcedContainer,
  enforcedPod,
  enforcementInput,
  marketClaim,
} from "../../../tests/fixtures/market/enforcement_input.ts";
import type { LimitRangeBounds, LimitRangeItem } from "../../api/namespace.ts";
import { NO_RESOURCES, type Pod, type PodContainer } from "../../api/pod.ts";
import { decide, decideManually, MARKET_CHAIN, RESTORE_CHAIN } from "../chain.ts";
import type { EnforcementInput, ResourceRanges } from "../inputs/resize_input.ts";
import { largestLimit, resourceRangesOf } from "./limit_range.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function range(...items: LimitRangeItem[]) {
  return { metadata: { name: "r", namespace: "shop", uid: "", resourceVersion: "" }, items };
}

const ANYTHING = { min: 0, max: Infinity, ratio: Infinity };

test("resourceRangesOf() has the tightest range of CPU and of memory", () => {
  const ranges = resourceRangesOf([
    range({ type: "Container", min: 10, memory: { max: 400, ratio: 2 } }),
    range({ type: "Container", max: 900 }, { type: "Container", memory: { min: 5, max: 300 } }),
    range({ type: "Pod", memory: { max: 800 } }),
  ]);
  assert.deepEqual(ranges, {
    cpu: { container: { min: 10, max: 900, ratio: Infinity }, pod: ANYTHING },
    memory: {
      container: { min: 5, max: 300, ratio: 2 },
      pod: { min: 0, max: 800, ratio: Infinity },
    },
  });
});

test("resourceRangesOf() has nothing of a resource of which nothing is said", () => {
  assert.equal(resourceRangesOf([]), undefined);
  assert.equal(resourceRangesOf([range()]), undefined);
  const unreadable = { ...range(), unreadable: "Cannot read it" };
  assert.equal(resourceRangesOf([unreadable]), undefined);
  assert.deepEqual(Object.keys(resourceRangesOf([range({ type: "Pod", max: 5 })]) ?? {}), ["cpu"]);
  const memory = range({ type: "Pod", memory: { max: 5 } });
  assert.deepEqual(Object.keys(resourceRangesOf([memory]) ?? {}), ["memory"]);
  const defaults = range({ type: "Container", defaults: { "limits.memory": "1Gi" } });
  assert.deepEqual(resourceRangesOf([defaults]), { defaults: ["limits.memory"] });
});

const BOUNDS: fc.Arbitrary<LimitRangeBounds> = fc.record({
  min: fc.nat(1000),
  max: fc.nat(1000),
  ratio: fc.integer({ min: 1, max: 9 }),
}, { requiredKeys: [] });
const TYPE = fc.constantFrom<LimitRangeItem["type"]>("Container", "Pod");

test("resourceRangesOf() reads each resource as if nothing were said of the other", () => {
  const items = fc.array(fc.tuple(TYPE, BOUNDS, BOUNDS), { maxLength: 5 });
  fc.assert(
    fc.property(items, (all) => {
      const both = range(...all.map(([type, cpu, memory]) => ({ type, ...cpu, memory })));
      const cpuOnly = range(...all.map(([type, cpu]) => ({ type, ...cpu })));
      const swapped = range(
        ...all.map(([type, cpu, memory]) => ({ type, ...memory, memory: cpu })),
      );
      assert.deepEqual(resourceRangesOf([both])?.cpu, resourceRangesOf([cpuOnly])?.cpu);
      assert.deepEqual(resourceRangesOf([swapped])?.memory, resourceRangesOf([cpuOnly])?.cpu);
    }),
  );
});

test("resourceRangesOf() keeps what is a default of any range, whatever bounds it has", () => {
  const memory = { "requests.memory": "1Gi", "limits.memory": "2Gi" };
  const all = resourceRangesOf([
    range({ type: "Container", max: 500, defaults: { "limits.cpu": "500m" } }),
    range({ type: "Container", defaults: memory }, { type: "Container", defaults: memory }),
  ]);
  assert.deepEqual(all?.defaults, ["limits.cpu", "limits.memory", "requests.memory"]);
  assert.equal(all?.cpu?.container.max, 500);
  assert.ok(!("defaults" in (resourceRangesOf([range({ type: "Container", max: 500 })]) ?? {})));
});

test("largestLimit() is the smaller of max and what the ratio allows beside the request", () => {
  assert.equal(largestLimit({ min: 0, max: Infinity, ratio: Infinity }, 0), Infinity);
  assert.equal(largestLimit({ min: 0, max: 500, ratio: 2.5 }, 101), 252);
  assert.equal(largestLimit({ min: 0, max: 200, ratio: 2.5 }, 101), 200);
  assert.equal(largestLimit({ min: 0, max: 200, ratio: 2.5 }, 0), 0);
});

function heldBy(fields: Partial<EnforcementInput>, chain = MARKET_CHAIN): string {
  const { changes, by, reason } = decide(chain, enforcementInput(fields));
  assert.deepEqual(changes, []);
  return `${by} ${reason}`;
}

test("decide() clamps into the LimitRange and goes on", () => {
  const decision = decide(MARKET_CHAIN, enforcementInput({ limitRange: cpuRanges({ max: 300 }) }));
  assert.deepEqual(decision.changes, [{
    name: "app",
    sidecar: false,
    requests: {},
    limits: { cpu: 300 },
  }]);
  assert.equal(decision.by, "OutsideLimitRange");
});

test("decide() holds where the LimitRange would refuse the pod whatever the market does", () => {
  const other = enforcedContainer({
    name: "jvm",
    limits: { cpu: 900 },
    applied: { limits: { cpu: 900 } },
  });
  const older = enforcedPod({ containers: [enforcedContainer(), other] });
  const limitRange = cpuRanges({ max: 500 });
  const { changes, reason, message } = decide(
    MARKET_CHAIN,
    enforcementInput({ pod: older, limitRange }),
  );
  assert.deepEqual([changes, reason], [[], "LimitRange"]);
  assert.match(message ?? "", / container jvm: .* allows .* limit .*500m.*900m$/);
  assert.equal(heldBy({ limitRange: cpuRanges({ min: 150 }) }), "OutsideLimitRange LimitRange");
});

test("decide() keeps to the LimitRange's ratio and to what it allows a pod", () => {
  const limitOf = (limitRange: ResourceRanges): number | undefined =>
    decide(MARKET_CHAIN, enforcementInput({ limitRange })).changes[0]?.limits.cpu;
  assert.equal(limitOf(cpuRanges({ ratio: 2.5 })), 250);
  assert.equal(limitOf(cpuRanges({}, { max: 330 })), 330);
  assert.equal(limitOf(cpuRanges({}, { ratio: 3 })), 300);
  assert.equal(heldBy({ limitRange: cpuRanges({}, { max: 150 }) }), "OutsideLimitRange LimitRange");
});

test("decide() holds where a LimitRange came that is below the request, or asks for one", () => {
  const heavy = enforcedContainer({
    requests: { cpu: 200 },
    limits: { cpu: 300 },
    applied: { limits: { cpu: 300 } },
  });
  const pod = enforcedPod({ containers: [heavy] });
  const claims = [marketClaim(200)];
  const limitRange = cpuRanges({ max: 100 });
  const { changes, reason, message } = decide(
    MARKET_CHAIN,
    enforcementInput({ pod, claims, limitRange }),
  );
  assert.deepEqual([changes, reason], [[], "LimitRange"]);
  assert.match(message ?? "", / container app: .* limit .*100m.* request .*200m/);
  const bare = { ...enforcedContainer(), requests: {} };
  const idle = enforcedPod({ containers: [bare] });
  assert.equal(
    heldBy({ pod: idle, limitRange: cpuRanges({ ratio: 2 }) }),
    "OutsideLimitRange LimitRange",
  );
});

const unlimited = {
  ...enforcedContainer({
    name: "side",
  }),
  limits: {},
  applied: NO_RESOURCES,
};

test("decide() holds where a LimitRange's max or ratio asks for a limit that a sibling has not", () => {
  const pod = enforcedPod({ containers: [enforcedContainer(), unlimited] });
  for (const limitRange of [cpuRanges({ ratio: 4 }), cpuRanges({ max: 500 })]) {
    const { changes, reason, message } = decide(
      MARKET_CHAIN,
      enforcementInput({ pod, limitRange }),
    );
    assert.deepEqual([changes, reason], [[], "LimitRange"]);
    assert.match(message ?? "", / container side: .* asks for .* none$/);
  }
  // What it asks of requests alone, or of the pod, the sibling meets.
  for (const limitRange of [cpuRanges({ min: 50 }), cpuRanges({}, { ratio: 4 })]) {
    const { changes } = decide(MARKET_CHAIN, enforcementInput({ pod, limitRange }));
    assert.equal(changes[0]?.limits.cpu, 400);
  }
});

test("decide() holds where an init container lies outside the LimitRange of containers", () => {
  const init = enforcedContainer({ name: "prepare", limits: { cpu: 900 } });
  const input = { pod: enforcedPod({ initContainers: [init] }) };
  const limitRange = cpuRanges({ max: 500 });
  const { changes, reason, message } = decide(
    MARKET_CHAIN,
    enforcementInput({ ...input, limitRange }),
  );
  assert.deepEqual([changes, reason], [[], "LimitRange"]);
  assert.match(
    message ?? "",
    / init container prepare: .* allows .* limit .*500m.*900m$/,
  );
  const wide = enforcementInput({ ...input, limitRange: cpuRanges({ max: 900 }) });
  assert.equal(decide(MARKET_CHAIN, wide).changes[0]?.limits.cpu, 400);
});

test("decide() counts an init container, with the sidecars before it, as the pod where it is more", () => {
  const init = enforcedContainer({ name: "prepare", limits: { cpu: 900 } });
  const pod = enforcedPod({ initContainers: [init] });
  const of = (max: number) =>
    decide(MARKET_CHAIN, enforcementInput({ pod, limitRange: cpuRanges({}, { max }) }));
  assert.deepEqual(of(500).changes, []);
  assert.match(
    of(500).message ?? "",
    / all containers: .* allows .* limit .*500m.*900m$/,
  );
  // They don't run at the same time, so that the sum of both binds nothing.
  assert.equal(of(900).changes[0]?.limits.cpu, 400);

  const proxied = (fields: Partial<typeof init>) => {
    const proxy = enforcedContainer({ sidecar: true });
    const late = enforcedPod({
      containers: [proxy],
      initContainers: [withFields(init, fields)],
    });
    const limitRange = cpuRanges({}, { max: 1200 });
    return decide(MARKET_CHAIN, enforcementInput({ pod: late, limitRange })).changes[0]?.limits.cpu;
  };
  assert.deepEqual([proxied({}), proxied({ sidecarsBefore: 1 })], [400, 300]);
});

test("decide() takes what a pod says as a whole for its total, as the server does", () => {
  const of = (limitCPU: number) =>
    decide(
      MARKET_CHAIN,
      enforcementInput({
        pod: enforcedPod({ podLevel: { requests: { cpu: 100 }, limits: { cpu: limitCPU } } }),
        limitRange: cpuRanges({}, { max: 300 }),
      }),
    );
  assert.equal(of(300).changes[0]?.limits.cpu, 400);
  assert.deepEqual([of(500).changes, of(500).reason], [[], "LimitRange"]);
});

test("decide() never asks for what the LimitRange forbids", () => {
  const millicores = fc.integer({ min: 1, max: 100 }).map((steps) => steps * 10);
  const requests = fc.oneof({ weight: 9, arbitrary: millicores }, fc.constant(0));
  const range = fc.record({
    min: fc.constantFrom(0, 50, 100),
    max: fc.oneof(fc.constant(Infinity), millicores),
    ratio: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 6 })),
  });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(requests, millicores, millicores), { minLength: 1, maxLength: 4 }),
      range,
      range,
      (sizes, ofContainer, ofPod) => {
        const containers = sizes.map(([request, present], index) => {
          const limitCPU = Math.max(request, present);
          const name = `c${index}`;
          return enforcedContainer({
            name,
            requests: { cpu: request },
            limits: { cpu: limitCPU },
            applied: { limits: { cpu: limitCPU } },
          });
        });
        const claims = sizes.map(([request, , wanted], index) =>
          marketClaim(Math.max(request, wanted), `c${index}`)
        );
        const limitRange = { cpu: { container: ofContainer, pod: ofPod } };
        const { changes } = decide(
          MARKET_CHAIN,
          enforcementInput({ pod: enforcedPod({ containers }), claims, limitRange }),
        );
        if (changes.length === 0) return;
        const after = containers.map(({ name, requests, limits }) => ({
          request: requests.cpu ?? 0,
          limit: changes.find((change) => change.name === name)?.limits.cpu ?? limits.cpu ?? 0,
        }));
        const total = after.reduce(
          (sum, one) => ({ request: sum.request + one.request, limit: sum.limit + one.limit }),
        );
        const pairs = [...after.map((one) => [one, ofContainer] as const), [total, ofPod] as const];
        for (const [{ request, limit }, { min, max, ratio }] of pairs) {
          assert.ok(request >= min && limit >= min && limit <= max);
          assert.ok(ratio === Infinity || limit <= ratio * request);
          assert.ok(limit >= request && limit >= 1);
        }
      },
    ),
  );
});

const BARE: PodContainer = {
  name: "side",
  sidecar: false,
  ready: true,
  restartsOnCPU: false,
  ...NO_RESOURCES,
  applied: NO_RESOURCES,
};
const MEMORY = { requests: { memory: 1 }, limits: { memory: 1 } };

function inputOf(change: Partial<Pod>, defaults?: readonly string[]) {
  const limitRange = { ...cpuRanges({}), ...(defaults === undefined ? {} : { defaults }) };
  return enforcementInput({ pod: enforcedPod(change), limitRange });
}

test("wouldWriteDefaults() holds a raise that would put CPU defaults into a sibling or init container", () => {
  const cpu = ["limits.cpu", "requests.cpu"];
  const sibling = { containers: [enforcedContainer(), BARE] };
  const init = {
    initContainers: [{ ...BARE, name: "prepare", requests: { ...BARE.requests, cpu: 10 } }],
  };
  const cases = [
    [sibling, "container side (limits.cpu, requests.cpu)"],
    [init, "init container prepare (limits.cpu)"],
    [{ ...sibling, ...init }, /side \(.*\), init container prepare \(/],
  ] as const;
  for (const [change, affected] of cases) {
    const { changes, reason, message = "", by } = decide(MARKET_CHAIN, inputOf(change, cpu));
    assert.deepEqual([changes, reason, by], [[], "LimitRange", "WouldWriteDefaults"]);
    assert.ok(
      typeof affected === "string"
        ? message.includes(` into ${affected}, and`)
        : affected.test(message),
    );
    // Without defaults nothing is written, so nothing holds.
    assert.equal(decide(MARKET_CHAIN, inputOf(change)).changes[0]?.limits.cpu, 400);
  }
});

test("wouldWriteDefaults() lets pods pass that lack nothing, and holds for memory and other resources", () => {
  const full = enforcedContainer({ ...MEMORY, otherResources: ["limits.ephemeral-storage"] });
  const known = ["limits.cpu", "requests.cpu", "limits.memory", "requests.memory"];
  const passes = (container: PodContainer, defaults: readonly string[]): boolean =>
    decide(MARKET_CHAIN, inputOf({ containers: [container] }, defaults)).changes.length === 1;
  assert.ok(passes(full, [...known, "limits.ephemeral-storage"]));
  assert.ok(!passes(full, ["requests.ephemeral-storage"]));
  assert.ok(!passes({ ...full, otherResources: [] }, ["limits.ephemeral-storage"]));
  // The container with the raised limit gets the defaults, too.
  assert.ok(passes(enforcedContainer(), ["limits.cpu", "requests.cpu"]));
  for (const name of ["limits.memory", "requests.memory"]) {
    assert.ok(!passes(enforcedContainer(), [name]), name);
  }
});

test("wouldWriteDefaults() holds a restore as RestoreBlocked, and a limit that is set by hand", () => {
  const input = inputOf({ containers: [enforcedContainer(), BARE] }, ["limits.cpu"]);
  const { changes, reason } = decide(RESTORE_CHAIN, input);
  assert.deepEqual([changes, reason], [[], "RestoreBlocked"]);
  const byHand = decideManually(input, new Map([["app", 400]]));
  assert.deepEqual([byHand.changes, byHand.reason], [[], "LimitRange"]);
  const { limitRange: _none, ...free } = input;
  assert.equal(decide(RESTORE_CHAIN, free).changes[0]?.limits.cpu, 400);
});

test("wouldWriteDefaults() ignores pods that have their original limits back", () => {
  const app = enforcedContainer({ limits: { cpu: 400 }, applied: { limits: { cpu: 400 } } });
  const input = inputOf({ containers: [app, BARE] }, ["limits.cpu"]);
  assert.equal(decide(RESTORE_CHAIN, input).reason, "Applied");
});
