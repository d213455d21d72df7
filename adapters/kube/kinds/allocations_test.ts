import assert from "node:assert/strict";
import { serveCanned, streamAnswer } from "../../../tests/fixtures/canned_server.ts";
import { sampleAllocation, samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { allocationListWatch } from "./allocations.ts";

Deno.test("watch() reports an allocation with a reason of a later version", async () => {
  const web = samplePod("web");
  const allocation = sampleAllocation({ ...web, metadata: { ...web.metadata, uid: "u1" } });
  const metadata = { ...allocation.metadata, uid: "u", resourceVersion: "8" };
  const bounds = { revision: 4, reason: "", containers: [] };
  const object = { ...allocation, metadata, status: { bounds, reason: "HPACapped" } };
  await using server = serveCanned(() =>
    streamAnswer([`${JSON.stringify({ type: "MODIFIED", object })}\n`])
  );
  const seen: unknown[] = [];
  const { signal } = new AbortController();
  for await (const event of allocationListWatch(server.connection).watch("7", signal)) {
    seen.push(event.type === "BOOKMARK" ? event.type : event.object.status);
  }
  assert.deepEqual(seen, [{ bounds, reason: "HPACapped" }]);
});
