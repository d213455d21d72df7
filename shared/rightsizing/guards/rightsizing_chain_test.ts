import assert from "node:assert/strict";
import { RIGHTSIZING_CHAIN, STRAGGLER_CHAIN } from "./rightsizing_chain.ts";

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
      "TakenBack",
      "NotRolledOut",
      "BelowThreshold",
      "RecentlyEdited",
      "CoolingDown",
      "NoMethod",
    ]);
    const names = STRAGGLER_CHAIN.map(({ name }) => name);
    assert.deepEqual(RIGHTSIZING_CHAIN.filter(({ name }) => !names.includes(name)), [
      RIGHTSIZING_CHAIN.find(({ name }) => name === "BelowThreshold"),
      RIGHTSIZING_CHAIN.find(({ name }) => name === "RecentlyEdited"),
      RIGHTSIZING_CHAIN.find(({ name }) => name === "CoolingDown"),
      RIGHTSIZING_CHAIN.find(({ name }) => name === "NoMethod"),
    ]);
  },
});
