import assert from "node:assert/strict";
import { podAllocationCRD } from "../../tools/crd/pod_allocation_crd.ts";
import { serveCanned, statusAnswer } from "../../tests/fixtures/canned_server.ts";
import { unknownAllocationFields } from "./allocation_fields.ts";
import { listOf, objectOf } from "./json_fields.ts";

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

Deno.test("unknownAllocationFields() names fields and words that an older definition lacks", async () => {
  const found = await unknown((text) =>
    text.replace('"boost":', '"older":').replace('"half","lower"', '"lower"')
      .replace('"requestMoves":', '"requestMove":')
      .replace('"NodeCordoned",', "")
  );
  assert.deepEqual(found, [
    "status.bounds.rules.reason: NodeCordoned",
    "status.bounds.containers.held: half",
    "status.bounds.containers.boost",
    "status.bounds.containers.requestMoves",
  ]);
});

Deno.test("unknownAllocationFields() finds nothing where the server tells no schema", async () => {
  for (const status of [403, 404]) {
    await using server = serveCanned(() => statusAnswer(status));
    assert.deepEqual(await unknownAllocationFields(server.connection), []);
  }
  await using empty = serveCanned(() => ({}));
  assert.deepEqual(await unknownAllocationFields(empty.connection), []);
  await using broken = serveCanned(() => statusAnswer(503));
  await assert.rejects(unknownAllocationFields(broken.connection), { status: 503 });
});
