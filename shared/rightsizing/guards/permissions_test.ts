import assert from "node:assert/strict";
import { outcomeOf, templateContainer } from "../../../tests/fixtures/rightsizing_facts.ts";
import type { MissingPermission } from "./rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const resize: MissingPermission = {
  method: "InPlace",
  permission: "patch pods/resize in namespace shop",
};
const patch: MissingPermission = {
  method: "Recreate",
  permission: "patch deployments.apps in namespace shop",
};
const only = (missingPermissions: readonly MissingPermission[], allowRecreate = false): string =>
  outcomeOf({ missingPermissions, strategy: { allowRecreate } });

test("permissionMissing() names what the method lacks, and does not turn to the other one", () => {
  assert.equal(
    only([resize]),
    "PermissionMissing RBACError: missing: patch pods/resize in namespace shop",
  );
  assert.match(only([resize], true), /^PermissionMissing RBACError: missing: patch pods/);
  assert.match(only([patch], true), /^InPlace: /);
  assert.match(only([]), /^InPlace: /);
});

test("permissionMissing() asks for the right to patch workloads where pods must be made anew", () => {
  const containers = [templateContainer({ restartsOnCPU: true })];
  const strategy = { allowRecreate: true };
  const held = outcomeOf({ containers, strategy, missingPermissions: [patch] });
  assert.match(held, /RBACError: missing: patch deployments\.apps in namespace shop/);
  assert.match(outcomeOf({ containers, strategy, missingPermissions: [resize] }), /^Recreate: /);
});
