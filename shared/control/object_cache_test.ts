import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { ApiObject } from "../api/object.ts";
import { createObjectCache } from "./object_cache.ts";

interface Thing extends ApiObject {
  readonly tags: readonly string[];
}

function thing(name: string, tags: readonly string[], resourceVersion = "1"): Thing {
  return { metadata: { name, namespace: "ns", uid: name, resourceVersion }, tags };
}

pure("createObjectCache() finds an object under each present value", () => {
  const cache = createObjectCache<Thing>(({ tags }) => tags);
  const found = (value: string) => cache.byIndex(value).map(({ metadata }) => metadata.name);
  cache.put(thing("a", ["red", "big"]));
  cache.put(thing("b", ["red"]));
  assert.deepEqual([found("red"), found("big"), found("ns")], [["a", "b"], ["a"], []]);
  cache.put(thing("a", ["big", "blue"], "2"));
  assert.deepEqual([found("red"), found("big"), found("blue")], [["b"], ["a"], ["a"]]);
  assert.deepEqual(cache.replaceAll([thing("b", ["blue"], "3")]), ["ns/a", "ns/b"]);
  assert.deepEqual([found("red"), found("big"), found("blue")], [[], [], ["b"]]);
  cache.remove(thing("b", []));
  assert.deepEqual(found("blue"), []);
});
