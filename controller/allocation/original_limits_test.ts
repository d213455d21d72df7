import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { NO_RESOURCES, type Pod } from "../../shared/api/pod.ts";
import type { PodAllocationStatus } from "../../shared/api/pod_allocation.ts";
import { originalValues } from "../../shared/resize/original_limits.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleGuaranteed,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { atOriginalRequests, findOriginals, originalsOf } from "./original_limits.ts";
import { createPodMemories, type PodMemory } from "./pod_memory.ts";

pure("originalsOf() takes limits and requests of the spec, with gaps where none is set", () => {
  const bare = { ...sampleContainer({ name: "proxy" }), ...NO_RESOURCES };
  const app = sampleContainer({ limits: { cpu: 2000 }, applied: { limits: { cpu: 500 } } });
  const found = originalsOf(samplePod("web", { containers: [app, bare] }));
  assert.deepEqual(found, {
    originalLimits: [{ name: "app", cpu: "2" }, { name: "proxy" }],
    originalRequests: [{ name: "app", cpu: "100m" }, { name: "proxy" }],
  });
  assert.deepEqual(originalValues(found.originalLimits), new Map([["app", 2000]]));
  assert.deepEqual(originalValues(undefined), new Map());
});

pure("atOriginalRequests() undoes what the market has made of a Guaranteed pod's requests", () => {
  const own = new Map([["app", 150]]);
  const raised = sampleGuaranteed({ requests: { cpu: 700 }, limits: { cpu: 700 } });
  const pod = samplePod("web", { containers: [raised, { ...raised, name: "jvm" }] });
  const found = atOriginalRequests(pod, own).containers;
  const amounts = found.map(({ requests, limits }) => [requests.cpu, limits.cpu]);
  assert.deepEqual(amounts, [[150, 700], [700, 700]]);
  const burstable = samplePod("web");
  assert.equal(atOriginalRequests(burstable, own), burstable);
});

const memoryOf = (): PodMemory => createPodMemories(() => {}).of("shop/web", samplePod("web"));
const record = (cpu: string, more = {}) => [{ name: "app", cpu, ...more }];

function podWith(manager: string, limit: number, qosClass: Pod["qosClass"]): Pod {
  const fields = { limits: { cpu: limit }, limitManagers: [manager] };
  const app = qosClass === "Guaranteed"
    ? sampleGuaranteed({ ...fields, requests: { cpu: limit } })
    : sampleContainer(fields);
  return samplePod("web", { containers: [app] });
}

interface Choice extends PodAllocationStatus {
  readonly manager?: string;
  readonly limit?: number;
  readonly qosClass?: Pod["qosClass"];
  readonly memory?: PodMemory;
  /** Of the template. */
  readonly template?: number | Error;
  readonly nowMs?: number;
  readonly current?: boolean;
}

/** `unknown` or `limit request` for the record, the limits of others, and `?` where the template was asked. */
async function found(choice: Choice): Promise<string> {
  const { manager = "mbcas", limit = 300, qosClass = "Burstable", template, ...rest } = choice;
  const { memory = memoryOf(), nowMs = 0, current = true, ...status } = rest;
  const pod = podWith(manager, limit, qosClass);
  let asked = "";
  const { known, originals, foreign } = await findOriginals(
    pod,
    { ...sampleAllocation(pod), status },
    {
      templates: {
        limitsOf() {
          asked = "?";
          if (template instanceof Error) return Promise.reject(template);
          return Promise.resolve(template === undefined ? undefined : new Map([["app", template]]));
        },
      },
      ...{ memory, nowMs, current },
    },
  );
  const { originalLimits, originalRequests } = originals ?? {};
  return [
    known ? "" : "unknown",
    ...[originalLimits?.[0]?.cpu, originalRequests?.[0]?.cpu],
    ...foreign.map(({ container, from, to, manager }) =>
      `${container}: ${from} to ${to} by ${manager}`
    ),
    asked,
  ].filter((one) => one !== undefined && one !== "").join(" ");
}

const KUBECTL = { manager: "kubectl", limit: 500 };

pure("findOriginals() asks pod, record and template, and names other managers", async () => {
  const own = { originalLimits: record("200m") };
  const fixed = { ...own, originalRequests: record("200m"), qosClass: "Guaranteed" } as const;
  const replaced = { originalLimits: record("250m", { replaces: "200m" }) };
  const rows: readonly (readonly [Choice, string])[] = [
    [own, ""],
    // Other managers count only on a pod that is new enough.
    [{ ...own, ...KUBECTL, current: false }, ""],
    [{ ...own, ...KUBECTL }, "500m 100m app: 200m to 500m by kubectl"],
    [{ ...fixed, ...KUBECTL }, "500m 500m app: 200m to 500m by kubectl"],
    [
      { originalLimits: [{ name: "app" }], ...KUBECTL },
      "500m 100m app: undefined to 500m by kubectl",
    ],
    // The spec counts where the market has set nothing.
    [{ manager: "kube-controller-manager" }, "300m 100m"],
    [{ manager: "mbcas-restore" }, "300m 100m"],
    [{ ...replaced, manager: "kube-controller-manager", limit: 200 }, ""],
    // A record that differs from the pod is corrected without an event.
    [{ ...own, manager: "mbcas/500m" }, "500m 100m"],
    [{ ...own, manager: "mbcas-restore", limit: 500 }, "500m 100m"],
    [{ template: 200 }, "200m 100m ?"],
  ];
  for (const [choice, expected] of rows) assert.equal(await found(choice), expected);
});

pure("findOriginals() asks the template for a lost record, and not again for 5 min", async () => {
  const memory = memoryOf();
  assert.equal(await found({ memory }), "unknown ?");
  assert.equal(await found({ memory, nowMs: 299_999 }), "unknown");
  assert.equal(await found({ memory, nowMs: 300_000, template: 200 }), "200m 100m ?");
  // A template that can't be asked is asked again at once.
  const down = new ApiError(503, "", "down");
  const other = memoryOf();
  for (let time = 0; time < 2; time++) {
    await assert.rejects(found({ memory: other, template: down }), /down/);
  }
});
