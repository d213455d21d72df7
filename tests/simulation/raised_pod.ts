/**
 * A pod in the market, and the hands that take it out, back in, or set its limit.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import { resizePatch } from "../../shared/resize/patch.ts";
import { MANAGED } from "../../shared/api/market_keys.ts";
import { settleVirtually } from "../contract/support/settle_virtually.ts";
import type { ControllerScene } from "./controller_scene.ts";

function labelled(pod: Pod, managed: string): Pod {
  const { metadata } = pod;
  return { ...pod, metadata: { ...metadata, labels: { ...metadata.labels, [MANAGED]: managed } } };
}

/** The pod with the annotation that takes it out of the market. */
export function optOut(pod: Pod): Pod {
  return labelled(pod, "false");
}

/** The pod with the annotation that takes it in. */
export function optIn(pod: Pod): Pod {
  return labelled(pod, "true");
}

/** Makes pod `web` and waits until the market has raised its limit from 200 m to 300 m. */
export async function raisedPod(scene: ControllerScene): Promise<void> {
  scene.createPod("web");
  scene.want("web", 300);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
}

/** Another client sets the limit of container `app` of pod `web`, m. */
export async function setByHand(scene: ControllerScene, limitCPU: number): Promise<void> {
  const { uid, namespace, name } = scene.pod("web").metadata;
  const patch = resizePatch(uid, [{
    name: "app",
    sidecar: false,
    requests: {},
    limits: { cpu: limitCPU },
  }]);
  const resizer = scene.api.podResizer("kubectl-patch");
  await settleVirtually(scene.clock, resizer.resize(namespace, name, patch));
}

/** The original limit of container `app` of pod `web`, as recorded. */
export function ownOnRecord(scene: ControllerScene): string | undefined {
  return scene.allocation("web")?.status?.originalLimits?.[0]?.cpu;
}
