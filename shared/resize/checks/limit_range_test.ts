import assert from "node:assert/strict";
import fc from "fast-check";
import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import {
  containerAt as at,
  cpuRanges,
  enforcedContainer,
  enforcedPod,
  enforcementInput,
  marketClaim,
  marketDecision,
} from "../../../tests/fixtures/market/enforcement_input.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import type { Pod, PodContainer } from "../../api/pod.ts";
import { decide, MARKET_CHAIN } from "../chain.ts";
import type { EnforcementInput } from "../inputs/resize_input.ts";

type Fields = Partial<EnforcementInput>;

function table(name: string, rows: readonly (readonly [Fields, expected: string])[]): void {
  pure(name, () => {
    for (const [fields, expected] of rows) assert.equal(marketDecision(fields), expected);
  });
}

const pod = (...containers: readonly PodContainer[]): Fields => ({
  pod: enforcedPod({ containers }),
});
const podWith = (change: Partial<Pod>): Fields => ({ pod: enforcedPod(change) });
const millicores = fc.integer({ min: 1, max: 100 }).map((steps) => steps * 10);

const HELD = "OutsideLimitRange LimitRange";
const bare = { ...enforcedContainer({ name: "side" }), requests: {}, limits: {} };
const init = (more: ContainerFields = {}): Partial<Pod> => ({
  initContainers: [enforcedContainer({ name: "prepare", limits: { cpu: 900 }, ...more })],
});
const beside = (more: ContainerFields): Fields => ({
  ...podWith({ containers: [enforcedContainer({ sidecar: true })], ...init(more) }),
  limitRange: cpuRanges({}, { max: 1200 }),
});
const whole = (cpu: number): Fields => ({
  ...podWith({ podLevel: { requests: { cpu: 100 }, limits: { cpu } } }),
  limitRange: cpuRanges({}, { max: 300 }),
});

table(
  "decide() clamps into LimitRanges, or holds where that is not enough",
  [
    [{ limitRange: cpuRanges({ max: 300 }) }, `app 300; ${HELD}`],
    [{ limitRange: cpuRanges({ ratio: 2.5 }) }, `app 250; ${HELD}`],
    [{ limitRange: cpuRanges({}, { max: 330 }) }, `app 330; ${HELD}`],
    [{ limitRange: cpuRanges({}, { ratio: 3 }) }, `app 300; ${HELD}`],
    [{ limitRange: cpuRanges({ min: 150 }) }, HELD],
    [{ limitRange: cpuRanges({}, { max: 150 }) }, HELD],
    [
      {
        ...pod(enforcedContainer(), at(900, { name: "jvm" })),
        limitRange: cpuRanges({ max: 500 }),
      },
      HELD,
    ],
    [
      {
        ...pod(at(300, { requests: { cpu: 200 } })),
        claims: [marketClaim(200)],
        limitRange: cpuRanges({ max: 100 }),
      },
      HELD,
    ],
    [
      { ...pod({ ...enforcedContainer(), requests: {} }), limitRange: cpuRanges({ ratio: 2 }) },
      HELD,
    ],
    // What it asks of requests alone, or of the pod, a sibling without a limit meets.
    ...[cpuRanges({ ratio: 4 }), cpuRanges({ max: 500 })].map((limitRange) =>
      [
        { ...pod(enforcedContainer(), { ...bare, requests: { cpu: 100 } }), limitRange },
        HELD,
      ] as const
    ),
    ...[cpuRanges({ min: 50 }), cpuRanges({}, { ratio: 4 })].map((limitRange) =>
      [
        { ...pod(enforcedContainer(), { ...bare, requests: { cpu: 100 } }), limitRange },
        "app 400",
      ] as const
    ),
    [{ ...podWith(init()), limitRange: cpuRanges({ max: 500 }) }, HELD],
    [{ ...podWith(init()), limitRange: cpuRanges({ max: 900 }) }, "app 400"],
    // An init container counts as the pod where it is more, with the sidecars before it.
    [{ ...podWith(init()), limitRange: cpuRanges({}, { max: 500 }) }, HELD],
    [{ ...podWith(init()), limitRange: cpuRanges({}, { max: 900 }) }, "app 400"],
    [beside({}), "app 400"],
    [beside({ sidecarsBefore: 1 }), `app 300; ${HELD}`],
    // What a pod says as a whole is its total.
    [whole(300), "app 400"],
    [whole(500), HELD],
  ],
);

pure("decide() never asks for what the LimitRange forbids", () => {
  const requests = fc.oneof({ weight: 9, arbitrary: millicores }, fc.constant(0));
  const range = fc.record({
    min: fc.constantFrom(0, 50, 100),
    max: fc.oneof(fc.constant(Infinity), millicores),
    ratio: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 6 })),
  });
  const sizes = fc.array(fc.tuple(requests, millicores, millicores), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(fc.property(sizes, range, range, (sizes, ofContainer, ofPod) => {
    const containers = sizes.map(([cpu, present], index) =>
      at(Math.max(cpu, present), { name: `c${index}`, requests: { cpu } })
    );
    const claims = sizes.map(([request, , wanted], index) =>
      marketClaim(Math.max(request, wanted), `c${index}`)
    );
    const limitRange = { cpu: { container: ofContainer, pod: ofPod } };
    const { changes } = decide(
      MARKET_CHAIN,
      enforcementInput({ ...pod(...containers), claims, limitRange }),
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
  }));
});

const DEFAULTS = "WouldWriteDefaults LimitRange";
const defaults = (...names: readonly string[]): Fields => ({
  limitRange: { ...cpuRanges({}), defaults: names },
});
const CPU = defaults("limits.cpu", "requests.cpu");
const full = enforcedContainer({
  ...{ requests: { memory: 1 }, limits: { memory: 1 } },
  otherResources: ["limits.ephemeral-storage"],
});
const KNOWN = ["limits.cpu", "requests.cpu", "limits.memory", "requests.memory"];
const siblings = pod(enforcedContainer(), bare);

table("decide() holds where the server would write a LimitRange's defaults into the pod", [
  [{ ...siblings, ...CPU }, DEFAULTS],
  [{ ...siblings, ...defaults() }, "app 400"],
  [{ ...podWith({ initContainers: [{ ...bare, requests: { cpu: 10 } }] }), ...CPU }, DEFAULTS],
  [{ ...pod(full), ...defaults(...KNOWN, "limits.ephemeral-storage") }, "app 400"],
  [{ ...pod(full), ...defaults("requests.ephemeral-storage") }, DEFAULTS],
  [{ ...pod({ ...full, otherResources: [] }), ...defaults("limits.ephemeral-storage") }, DEFAULTS],
  // The container with the raised limit gets the defaults, too.
  [CPU, "app 400"],
  [defaults("limits.memory"), DEFAULTS],
  [defaults("requests.memory"), DEFAULTS],
]);
