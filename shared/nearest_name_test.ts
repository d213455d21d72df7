import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { nearestName } from "./nearest_name.ts";

pure("nearestName() finds a misspelt name, and none where all are far", () => {
  const known = ["burstFactor", "dryRun", "managementPolicy"];
  assert.equal(nearestName("burstfacter", known), "burstFactor");
  assert.equal(nearestName("dry-run", known), "dryRun");
  assert.equal(nearestName("kubeconfig", known), undefined);
  assert.equal(nearestName("", known), undefined);
});
