import assert from "node:assert/strict";
import fc from "fast-check";
import { sampleContainer, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { Pod, PodContainer } from "../api/pod.ts";
import type { Original } from "../api/pod_allocation.ts";
import {
  limitsAreOurs,
  marketManager,
  originalLimitsOf,
  originalsIn,
  type OtherSources,
} from "./original_limits.ts";

/** A pod of one container at 600 m. */
function pod(...limitManagers: readonly string[]): Pod {
  return samplePod("web", {
    containers: [sampleContainer({ limits: { cpu: 600 }, limitManagers })],
  });
}

function named(count: number): PodContainer[] {
  return Array.from({ length: count }, (_, index) => sampleContainer({ name: `c${index}` }));
}

const RECORD: readonly Original[] = [{ name: "app", cpu: "200m" }];
const TEMPLATE = new Map([["app", 300]]);

/** The original limit of container `app`; undefined: not known. */
function original(of: Pod, sources: OtherSources = {}): string | undefined {
  return originalLimitsOf(of, sources)?.[0]?.cpu;
}

pure("marketManager() lists the original limits in the containers' order", () => {
  const { containers } = samplePod("web", { containers: named(3) });
  const originals = new Map([["c0", 200], ["c2", 2000]]);
  assert.equal(marketManager({ containers }, originals), "mbcas/200m,,2");
});

pure("marketManager() names no more than API servers take", () => {
  const of = (count: number): string => {
    const containers = named(count);
    return marketManager({ containers }, new Map(containers.map(({ name }) => [name, 12_345])));
  };
  // 6 characters of prefix, 6 of each value, 15 commas.
  assert.equal(of(17).length, 124);
  assert.equal(of(18), "mbcas");
});

pure("originalsIn() reads back what marketManager() wrote", () => {
  const limit = fc.option(fc.nat(100_000), { nil: undefined });
  fc.assert(fc.property(fc.array(limit, { minLength: 1, maxLength: 15 }), (limits) => {
    const containers = named(limits.length);
    const originals = new Map(
      limits.flatMap((one, index): [string, number][] =>
        one === undefined ? [] : [[`c${index}`, one]]
      ),
    );
    const manager = marketManager({ containers }, originals);
    const raised = containers.map((one) => ({ ...one, limitManagers: [manager] }));
    assert.deepEqual(originalsIn({ containers: raised }), originals);
  }));
});

pure("originalsIn() has the present limit under another manager", () => {
  const app = (...managers: readonly string[]) => originalsIn(pod(...managers)).get("app");
  assert.equal(app("kubectl"), 600);
  assert.equal(app("mbcas-restore"), 600);
  // Another client has applied the same value, and manages it now.
  assert.equal(app("argocd", "mbcas/200m"), 600);
  assert.equal(app("mbcas/200m"), 200);
  for (const none of [[], ["mbcas"], ["mbcas/"], ["mbcas/-1"], ["mbcas/x"], ["mbcas/,200m"]]) {
    assert.equal(app(...none), undefined, none.join());
  }
});

pure("limitsAreOurs() goes by the field managers alone", () => {
  assert.equal(limitsAreOurs(samplePod("web")), false);
  for (const managers of [[], ["kubectl"], ["mbcas-restore"], ["argocd", "mbcas/200m"]]) {
    assert.equal(limitsAreOurs(pod(...managers)), false, managers.join());
  }
  assert.equal(limitsAreOurs(pod("mbcas")), true);
  assert.equal(limitsAreOurs(pod("mbcas/200m")), true);
});

pure("originalLimitsOf() asks the pod, then the record, then the template", () => {
  const all = { recorded: RECORD, template: TEMPLATE };
  assert.equal(original(pod("mbcas/500m"), all), "500m");
  assert.equal(original(pod("kubectl"), all), "600m");
  assert.equal(original(pod("mbcas-restore"), all), "600m");
  assert.equal(original(pod("mbcas"), all), "200m");
  assert.equal(original(pod("mbcas"), { template: TEMPLATE }), "300m");
  assert.equal(originalLimitsOf(pod("mbcas"), { template: new Map() }), undefined);
  // The pod has no manager on record, or none any more.
  assert.equal(original(pod(), all), "200m");
  assert.equal(original(pod("ancient-changes"), all), "200m");
  assert.equal(original(pod(), { template: TEMPLATE }), "600m");
});

pure("originalLimitsOf() keeps rightsizing's value as long as the pod has the one before", () => {
  const recorded = [{ name: "app", cpu: "250m", replaces: "200m" }];
  assert.deepEqual(originalLimitsOf(pod("mbcas/200m"), { recorded }), recorded);
  assert.equal(original(pod("mbcas/250m"), { recorded }), "250m");
  assert.equal(original(pod("kubectl"), { recorded }), "600m");
});

pure("originalLimitsOf() goes container by container", () => {
  const { containers } = samplePod("web", {
    containers: [
      sampleContainer({ limits: { cpu: 700 }, limitManagers: ["mbcas"] }),
      sampleContainer({ name: "proxy", limits: { cpu: 50 }, limitManagers: ["kubectl-patch"] }),
      sampleContainer({ name: "log", limits: { cpu: 90 }, limitManagers: ["mbcas/1,1,80m"] }),
    ],
  });
  const others = [{ name: "proxy", cpu: "50m" }, { name: "log", cpu: "80m" }];
  const unlimited = { containers: [{ ...sampleContainer(), limits: {} }] };
  assert.deepEqual(originalLimitsOf(unlimited, {}), [{ name: "app" }]);
  assert.deepEqual(originalLimitsOf({ containers }, { template: TEMPLATE }), [
    { name: "app", cpu: "300m" },
    ...others,
  ]);
  assert.equal(originalLimitsOf({ containers }, { template: new Map([["proxy", 80]]) }), undefined);
});
