import assert from "node:assert/strict";
import { DEFAULT_MARKET_CONFIG } from "../../../controller/config.ts";
import { enforcedPod, enforcementInput } from "../../../tests/fixtures/market/enforcement_input.ts";
import type { Pod } from "../../api/pod.ts";
import { decide, decideManually, MARKET_CHAIN, RESTORE_CHAIN } from "../chain.ts";
import { outOfScope } from "../scope.ts";
import { isOldKubelet, PLATFORM_RULES, type PlatformFacts } from "./platform.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

Deno.test({
  name: "isOldKubelet() is true below 1.33 only",
  permissions: "none",
  fn() {
    assert.deepEqual(
      ["v1.32.9", "1.9.1", "v1.33.0-rc.1", "v1.36.3", "v2.0.0", "", "dev", undefined].map(
        isOldKubelet,
      ),
      [true, true, false, false, false, false, false, false],
    );
  },
});

function annotated(annotations: Pod["metadata"]["annotations"]): Pod {
  const pod = enforcedPod();
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

const pod = enforcedPod();

/** What can never be resized, by the rule that says so. */
const NEVER: readonly (readonly [string, PlatformFacts])[] = [
  ["WindowsPod", { pod: enforcedPod({ windows: true }) }],
  ["WindowsPod", { pod, node: { os: "windows" } }],
  ["StaticPod", { pod: annotated({ "kubernetes.io/config.mirror": "c0ffee" }) }],
  ["StaticPod", { pod: annotated({ "kubernetes.io/config.source": "file" }) }],
  ["DeviceClaims", { pod: enforcedPod({ claimsNodeResources: true }) }],
  ["KubeletTooOld", { pod, node: { kubeletVersion: "v1.32.9" } }],
];

/** What looks alike and can be. */
const RESIZABLE: readonly PlatformFacts[] = [
  { pod },
  { pod, node: { kubeletVersion: "v1.33.0" } },
  { pod: annotated({ "kubernetes.io/config.source": "api" }) },
  // Servers that can't resize these say so themselves.
  { pod: enforcedPod({ podLevel: { requests: {}, limits: { cpu: 500 } } }) },
];

test("PLATFORM_RULES name each pod that can never be resized by its reason, and no other", () => {
  const said = (facts: PlatformFacts): string[] =>
    PLATFORM_RULES.flatMap(({ rule }) => rule(facts)?.reason ?? []);
  for (const [reason, facts] of NEVER) assert.deepEqual(said(facts), [reason]);
  for (const facts of RESIZABLE) assert.deepEqual(said(facts), []);
  assert.deepEqual(
    [...new Set(NEVER.map(([reason]) => reason))],
    PLATFORM_RULES.map((r) => r.name),
  );
});

test("outOfScope() leaves out pods that the platform never resizes, before their QoS class", () => {
  const scoped = (facts: PlatformFacts): string | undefined =>
    outOfScope({ ...facts, namespace: undefined, config: DEFAULT_MARKET_CONFIG })?.reason;
  for (const [reason, facts] of NEVER) {
    assert.equal(scoped(facts), reason);
    assert.equal(scoped({ ...facts, pod: { ...facts.pod, qosClass: "BestEffort" } }), reason);
    const annotations = { ...facts.pod.metadata.annotations, "mbcas.io/managed": "false" };
    const metadata = { ...facts.pod.metadata, annotations };
    assert.equal(scoped({ ...facts, pod: { ...facts.pod, metadata } }), "OptedOut");
  }
  for (const facts of RESIZABLE) assert.equal(scoped(facts), undefined);
});

test("decide() holds for such pods from each source, except a restore", () => {
  const wanted = new Map([["app", 400]]);
  for (const [reason, { pod, node }] of NEVER) {
    const facts = { pod, ...(node === undefined ? {} : { node }) };
    const manual = decideManually(facts, wanted);
    assert.deepEqual([manual.changes, manual.by, manual.reason], [[], reason, reason]);
    const market = decide(MARKET_CHAIN, enforcementInput(facts));
    assert.deepEqual([market.changes, market.by, market.reason], [[], reason, reason]);
    assert.equal(decide(RESTORE_CHAIN, enforcementInput(facts)).changes.length, 1);
  }
  for (const { pod, node } of RESIZABLE) {
    const facts = { pod, ...(node === undefined ? {} : { node }) };
    assert.equal(decideManually(facts, wanted).changes.length, 1);
    assert.equal(decide(MARKET_CHAIN, enforcementInput(facts)).changes.length, 1);
  }
});
