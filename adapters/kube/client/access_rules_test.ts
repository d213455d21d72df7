import assert from "node:assert/strict";
import { assertMatches } from "../../../tests/fixtures/assert_matches.ts";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { type AccessRule, accessRuleText, createMethodRights } from "./access_rules.ts";

/** A server that gives these rights, and what it was asked. */
function serving(allowed: (rule: AccessRule) => boolean) {
  return serveCanned(({ body }) => {
    const { spec } = body as { spec: { resourceAttributes: AccessRule } };
    return { status: { allowed: allowed(spec.resourceAttributes) } };
  });
}

Deno.test("missing() finds nothing where all is given everywhere, and asks once a right for all namespaces", async () => {
  await using server = serving(({ namespace }) => namespace === undefined);
  const { missing } = createMethodRights(server.connection);
  const found = await missing("Deployment", ["shop", "other", "third"]);
  assert.deepEqual([...found], [["shop", []], ["other", []], ["third", []]]);
  assert.equal(server.requests.length, 3);
  assert.deepEqual([...await missing("Deployment", [])], []);
  assert.equal(server.requests.length, 3);
});

Deno.test("missing() asks in each namespace for what is not given everywhere, and for that alone", async () => {
  await using server = serving(({ namespace, verb }) => namespace === "shop" || verb === "get");
  const { missing } = createMethodRights(server.connection);
  const found = await missing("DaemonSet", ["shop", "other"]);
  assert.deepEqual([found.get("shop")?.length, found.get("other")?.length], [0, 2]);
  assert.equal(server.requests.length, 3 + 2 * 2);
});

Deno.test("missing() names the method and the permission", async () => {
  await using server = serving(({ verb, resource }) => verb === "get" && resource !== "pods");
  const { missing } = createMethodRights(server.connection);
  const found = (await missing("StatefulSet", ["shop"])).get("shop") ?? [];
  assertMatches(found.map(({ method, permission }) => `${method}: ${permission}`), [
    /^InPlace: patch pods\/resize .* shop$/,
    /^Recreate: patch statefulsets\.apps .* shop$/,
  ]);
});

Deno.test("missing() takes a server that does not answer for an error", async () => {
  await using server = serveCanned(() => statusAnswer(503));
  const { missing } = createMethodRights(server.connection);
  await assert.rejects(missing("Deployment", ["shop"]), { status: 503 });
});

Deno.test("accessRuleText() names verb, resource, name and namespace", () => {
  const rule = { verb: "patch", group: "", resource: "pods", subresource: "resize" };
  const lease = {
    verb: "update",
    group: "coordination.k8s.io",
    resource: "leases",
    namespace: "mbcas-system",
    name: "mbcas-controller",
  };
  assert.equal(accessRuleText(rule), "patch pods/resize");
  assert.equal(
    accessRuleText(lease),
    'update leases.coordination.k8s.io "mbcas-controller" in mbcas-system',
  );
});
