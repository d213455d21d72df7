import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type ReceivedRequest,
  serveCanned,
  statusAnswer,
} from "../../../tests/fixtures/canned_server.ts";
import {
  type AccessRule,
  checkAPI,
  readResizeSupport,
  type ResizeSupport,
  unknownAllocationFields,
} from "./api_checks.ts";
import { podAllocationCRD } from "../../../tools/crd/pod_allocation_crd.ts";
import { listOf, objectOf } from "./json_fields.ts";
import { accessRuleText } from "../../../tests/cluster/rbac/rights.ts";

const RESIZE: AccessRule = { verb: "patch", group: "", resource: "pods", subresource: "resize" };
const LEASE: AccessRule = {
  verb: "update",
  group: "coordination.k8s.io",
  resource: "leases",
  namespace: "mbcas-system",
  name: "mbcas-controller",
};

/** A server of 1.36 with all that is needed, but for the rights on Leases. */
function complete({ path, body }: ReceivedRequest): unknown {
  switch (path) {
    case "/version":
      return { gitVersion: "v1.36.3" };
    case "/api/v1":
      return { resources: [{ name: "pods" }, { name: "pods/resize" }] };
    case "/openapi/v3/apis/allocation.mbcas.io/v1alpha1":
      return statusAnswer(403);
    case "/apis/allocation.mbcas.io/v1alpha1":
      return { resources: [{ name: "podallocations" }] };
    default:
      return { status: { allowed: !JSON.stringify(body).includes("leases") } };
  }
}

Deno.test("checkAPI() returns version, resources and missing rights", async () => {
  await using server = serveCanned(complete);
  assert.deepEqual(await checkAPI(server.connection, { rules: [RESIZE, LEASE] }), {
    serverVersion: "v1.36.3",
    servesPodResize: true,
    servesAllocations: true,
    unknownFields: [],
    missingRights: [LEASE],
  });
});

Deno.test("checkAPI() takes an old or empty server for an answer, a broken one for an error", async () => {
  await using old = serveCanned(({ path }) =>
    path.startsWith("/apis/allocation") ? statusAnswer(404) : {}
  );
  assert.deepEqual(await checkAPI(old.connection, { rules: [] }), {
    serverVersion: "",
    servesPodResize: false,
    servesAllocations: false,
    unknownFields: [],
    missingRights: [],
  });
  await using broken = serveCanned(() => statusAnswer(503));
  await assert.rejects(checkAPI(broken.connection, { rules: [] }), { status: 503 });
});

/** The findings about a server of this version, with a core group that has these resources. */
async function supportOf(gitVersion: unknown, ...names: string[]): Promise<ResizeSupport> {
  await using server = serveCanned(({ path }) =>
    path === "/version" ? { gitVersion } : { resources: names.map((name) => ({ name })) }
  );
  return await readResizeSupport(server.connection);
}

Deno.test("readResizeSupport() goes by what is served, whatever the version is", async () => {
  for (const version of ["v1.32.0", "v1.36.3"]) {
    assert.equal((await supportOf(version, "pods", "pods/resize")).resizeServed, true);
    assert.deepEqual(await supportOf(version, "pods", "pods/exec"), {
      resizeServed: false,
      lowersMemoryLimits: false,
    });
  }
});

Deno.test("readResizeSupport() lets memory limits be lowered from 1.34 on", async () => {
  const lowers = async (version: unknown): Promise<boolean> =>
    (await supportOf(version, "pods/resize")).lowersMemoryLimits;
  for (const version of ["v1.34.0", "v1.35.2-gke.100", "v1.100.0", "v2.0.0"]) {
    assert.equal(await lowers(version), true, version);
  }
  for (const version of ["v1.33.9+k3s1", "v1.9.0", "", "latest", undefined]) {
    assert.equal(await lowers(version), false);
  }
});

Deno.test("readResizeSupport() takes a server that does not answer for an error", async () => {
  await using server = serveCanned(() => statusAnswer(503));
  await assert.rejects(readResizeSupport(server.connection), { status: 503 });
});

Deno.test("property 20: readResizeSupport() finds in-place support exactly where it is served", async () => {
  let names: readonly string[] = [];
  await using server = serveCanned(({ path }) =>
    path === "/version" ? { gitVersion: "v1.36.0" } : { resources: names.map((name) => ({ name })) }
  );
  const others = fc.array(fc.stringMatching(/^(pods|nodes|resize)(\/[a-z]{1,6})?$/), {
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(others, fc.boolean(), async (found, isOn) => {
      const rest = found.filter((name) => name !== "pods/resize");
      names = isOn ? [...rest, "pods/resize"] : rest;
      const { resizeServed } = await readResizeSupport(server.connection);
      assert.equal(resizeServed, isOn);
    }),
  );
});

/** The schema of the definition as this version makes it. */
function schema(): string {
  const [version] = listOf(objectOf(objectOf(podAllocationCRD()).spec).versions);
  return JSON.stringify(objectOf(objectOf(version).schema).openAPIV3Schema);
}

/** What is missing where the server's definition is the text of `change`. */
async function unknown(change: (text: string) => string): Promise<readonly string[]> {
  const definition = objectOf(JSON.parse(change(schema())));
  const kind = { group: "allocation.mbcas.io", version: "v1alpha1", kind: "PodAllocation" };
  const found = { ...definition, "x-kubernetes-group-version-kind": [kind] };
  await using server = serveCanned(({ path }) =>
    path === "/openapi/v3/apis/allocation.mbcas.io/v1alpha1"
      ? { components: { schemas: { Other: {}, "io.mbcas.PodAllocation": found } } }
      : statusAnswer(404)
  );
  return await unknownAllocationFields(server.connection);
}

Deno.test("unknownAllocationFields() finds nothing in this version's definition", async () => {
  assert.deepEqual(await unknown((text) => text), []);
});

Deno.test("unknownAllocationFields() names fields and values that an older CRD lacks", async () => {
  const found = await unknown((text) =>
    text.replace('"boost":', '"older":').replace('"half","lower"', '"lower"')
      .replace('"requestMoves":', '"requestMove":')
  );
  assert.deepEqual(found, [
    "status.bounds.containers.held: half",
    "status.bounds.containers.boost",
    "status.bounds.containers.requestMoves",
  ]);
});

Deno.test("unknownAllocationFields() finds nothing where the server publishes no schema", async () => {
  for (const status of [403, 404]) {
    await using server = serveCanned(() => statusAnswer(status));
    assert.deepEqual(await unknownAllocationFields(server.connection), []);
  }
  await using empty = serveCanned(() => ({}));
  assert.deepEqual(await unknownAllocationFields(empty.connection), []);
  await using broken = serveCanned(() => statusAnswer(503));
  await assert.rejects(unknownAllocationFields(broken.connection), { status: 503 });
});

Deno.test("accessRuleText() names verb, resource, name and namespace", () => {
  assert.equal(accessRuleText(RESIZE), "patch pods/resize");
  assert.equal(
    accessRuleText(LEASE),
    'update leases.coordination.k8s.io "mbcas-controller" in mbcas-system',
  );
});
