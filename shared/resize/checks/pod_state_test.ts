import {
  type ClaimFields as Fields,
  claimTable as table,
  containerAt as at,
  enforcedPod,
  THERE,
  wants,
} from "../../../tests/fixtures/market/decide_claim.ts";
import type { Pod, ResizeCondition } from "../../api/pod.ts";

const METADATA = enforcedPod().metadata;
const asked = (limit: number, applied: number, more: Partial<Pod> = {}): Fields => ({
  pod: enforcedPod({ containers: [at(limit, { applied: { limits: { cpu: applied } } })], ...more }),
});
const condition = (reason: string, more: Partial<ResizeCondition> = {}): Partial<Pod> => ({
  resizeConditions: [{ type: "PodResizePending", reason, message: "no", ...more }],
});
const ERROR = condition("Error", { type: "PodResizeInProgress" });
const generation = { metadata: { ...METADATA, generation: 3 } };

table("decide() reports what the kubelet reports, rounded or not, and locks no pod at it", [
  [{ ...asked(395, 400), ...wants(395) }, THERE],
  [{ ...asked(395, 200), ...wants(395) }, "AlreadyThere ResizeInProgress"],
  [{ ...asked(395, 390), ...wants(395) }, "AlreadyThere ResizeInProgress"],
  [asked(400, 200, condition("Deferred")), "AlreadyThere ResizeDeferred"],
  [asked(400, 200, condition("Infeasible")), "AlreadyThere ResizeInfeasible"],
  [asked(400, 200, ERROR), "AlreadyThere ResizeError"],
  [asked(900, 200, condition("Infeasible")), "app 400"],
  [asked(900, 200, ERROR), "app 400"],
  // The kubelet's condition for an older resize counts for nothing.
  [
    asked(400, 200, { ...generation, ...condition("Infeasible", { observedGeneration: 3 }) }),
    "AlreadyThere ResizeInfeasible",
  ],
  [
    asked(400, 200, { ...generation, ...condition("Infeasible", { observedGeneration: 2 }) }),
    "AlreadyThere ResizeInProgress",
  ],
]);
