import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import { follow } from "./follow.ts";

function object(resourceVersion: string): ApiObject {
  return { metadata: { name: "web", uid: "1", resourceVersion } };
}

Deno.test("follow() resumes a broken watch at the last version, and lists anew when that is too old", async () => {
  const end = new AbortController();
  const calls: string[] = [];
  const source: ListWatch<ApiObject> = {
    list: () => {
      calls.push("list");
      return Promise.resolve({ items: [object("5")], resourceVersion: "5" });
    },
    async *watch(from) {
      calls.push(from);
      await Promise.resolve();
      if (calls.length === 3) throw new ApiError(410, "Expired", "too old");
      if (calls.length === 5) return end.abort();
      yield { type: "MODIFIED", object: object("6") };
      throw new ApiError(0, "Unreachable", "the server was killed");
    },
  };
  const seen: string[] = [];
  await follow(source, {
    seen: ({ metadata }) => void seen.push(metadata.resourceVersion),
    gone: () => assert.fail("nothing is deleted"),
    relisted: (items) => void seen.push(`${items.length} listed`),
  }, { signal: end.signal });
  assert.deepEqual(calls, ["list", "5", "6", "list", "5"]);
  assert.deepEqual(seen, ["1 listed", "6", "1 listed"]);
});
