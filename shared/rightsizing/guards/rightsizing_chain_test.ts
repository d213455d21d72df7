import assert from "node:assert/strict";
import { RIGHTSIZING_CHAIN } from "./rightsizing_chain.ts";

Deno.test({
  name: "RIGHTSIZING_CHAIN keeps its order",
  permissions: "none",
  fn() {
    assert.deepEqual(RIGHTSIZING_CHAIN.map(({ name }) => name), [
      "SamplesLacking",
      "ModeHolds",
      "DryRunHolds",
      "PermissionMissing",
      "LastDenialHolds",
      "BoundUnreadable",
      "HorizontalAutoscalerConflicts",
      "VerticalAutoscalerConflicts",
      "RolloutHolds",
      "OutsideRanges",
      "OverQuotas",
      "OverNodes",
      "QoSWouldChange",
      "RequestAboveLimit",
      "UnsafeMemoryDecrease",
      "NodeUnderPressure",
      "BelowThreshold",
      "CoolingDown",
      "NoMethod",
    ]);
  },
});
