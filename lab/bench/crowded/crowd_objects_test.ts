import assert from "node:assert/strict";
import { CROWD, NEVER_READY, OPTED_OUT, PLACES } from "./crowd.ts";
import { memberObject, placeObjects } from "./crowd_objects.ts";

const STAGE = { namespace: "try-1", folder: "/lists" };

Deno.test("memberObject() opts one member out, lets one fail its probe, and no other", () => {
  for (const member of CROWD) {
    const { body } = memberObject(member, STAGE);
    const text = JSON.stringify(body);
    assert.equal(text.includes('"mbcas.io/managed":"false"'), member.name === OPTED_OUT);
    assert.equal(text.includes("readinessProbe"), member.name === NEVER_READY);
    assert.ok(text.includes(`"priorityClassName":"bench-${member.priority}"`));
    assert.ok(text.includes(`"limits":{"cpu":"${member.limit}m"}`));
  }
});

Deno.test("memberObject() gives each worker a list of its own, and replicas of a Deployment one", () => {
  const objects = new Map(CROWD.map((member) => [member.name, memberObject(member, STAGE)]));
  const worker = objects.get("worker") ?? assert.fail();
  assert.equal(worker.path, "/apis/apps/v1/namespaces/try-1/statefulsets");
  assert.match(JSON.stringify(worker.body), /\/requests\/\$\(POD_NAME\)\.bin/);
  const web = objects.get("web") ?? assert.fail();
  assert.equal(web.path, "/apis/apps/v1/namespaces/try-1/deployments");
  assert.match(JSON.stringify(web.body), /\/requests\/web\.bin/);
});

Deno.test("placeObjects() has a quota for each namespace and a LimitRange for one", () => {
  const paths = PLACES.map((place) => placeObjects(place, "try-1").map(({ path }) => path));
  assert.deepEqual(paths.map(({ length }) => length), [1, 1, 2]);
  assert.deepEqual(paths[2]?.[1], "/api/v1/namespaces/try-1/limitranges");
  const quota = placeObjects(PLACES[0] ?? assert.fail(), "try-1")[0];
  assert.deepEqual(quota?.body["spec"], {
    hard: { "limits.cpu": "1", "requests.cpu": "400m" },
  });
});
