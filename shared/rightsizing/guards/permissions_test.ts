import assert from "node:assert/strict";
import { outcomeOf, templateContainer } from "../../../tests/fixtures/rightsizing_facts.ts";
import type { MissingPermission } from "./rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const resize: MissingPermission = { method: "InPlace", permission: "patch pods/resize" };
const patch: MissingPermission = { method: "Recreate", permission: "patch deployments.apps" };
const only = (missingPermissions: readonly MissingPermission[], allowRecreate = false): string =>
  outcomeOf({ missingPermissions, strategy: { allowRecreate } });

test("permissionMissing() names what the method lacks, and does not turn to the other one", () => {
  for (const allowRecreate of [false, true]) {
    assert.match(only([resize], allowRecreate), /^PermissionMissing RBACError: .*pods\/resize$/);
  }
  assert.match(only([patch], true), /^InPlace: /);
  assert.match(only([]), /^InPlace: /);
});

test("permissionMissing() asks for the right to patch workloads where pods must be made anew", () => {
  const containers = [templateContainer({ restartsOnCPU: true })];
  const strategy = { allowRecreate: true };
  const held = outcomeOf({ containers, strategy, missingPermissions: [patch] });
  assert.match(held, /^PermissionMissing RBACError: .*deployments\.apps$/);
  assert.match(outcomeOf({ containers, strategy, missingPermissions: [resize] }), /^Recreate: /);
});
