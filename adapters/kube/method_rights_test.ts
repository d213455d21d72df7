import assert from "node:assert/strict";
import { serveCanned, statusAnswer } from "../../tests/fixtures/canned_server.ts";
import type { AccessRule } from "./api_checks.ts";
import { createMethodRights } from "./method_rights.ts";

/** A server that gives these rights, and what it was asked. */
function serving(allowed: (rule: AccessRule) => boolean) {
  return serveCanned(({ body }) => {
    const { spec } = body as { spec: { resourceAttributes: AccessRule } };
    return { status: { allowed: allowed(spec.resourceAttributes) } };
  });
}

Deno.test("missing() finds nothing where all is given everywhere, and asks once a right", async () => {
  await using server = serving(({ namespace }) => namespace === undefined);
  assert.deepEqual(await createMethodRights(server.connection).missing("shop", "Deployment"), []);
  assert.equal(server.requests.length, 3);
});

Deno.test("missing() finds nothing where all is given in the namespace alone", async () => {
  await using server = serving(({ namespace }) => namespace === "shop");
  const { missing } = createMethodRights(server.connection);
  assert.deepEqual(await missing("shop", "DaemonSet"), []);
  assert.equal((await missing("other", "DaemonSet")).length, 3);
});

Deno.test("missing() names the method and the permission in the words of a refusal", async () => {
  await using server = serving(({ verb, resource }) => verb === "get" && resource !== "pods");
  assert.deepEqual(await createMethodRights(server.connection).missing("shop", "StatefulSet"), [
    { method: "InPlace", permission: "patch pods/resize in namespace shop" },
    { method: "Recreate", permission: "patch statefulsets.apps in namespace shop" },
  ]);
});

Deno.test("missing() takes a server that does not answer for an error", async () => {
  await using server = serveCanned(() => statusAnswer(503));
  const { missing } = createMethodRights(server.connection);
  await assert.rejects(missing("shop", "Deployment"), { status: 503 });
});
