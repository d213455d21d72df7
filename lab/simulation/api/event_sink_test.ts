import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import type { ApiObject } from "../../../shared/api/object.ts";
import { createEventLog, type LogEntry } from "./event_sink.ts";

const expired = { name: "ApiError", status: 410 };

function entry(version: number): LogEntry<ApiObject> {
  const object = {
    metadata: { name: "a", uid: "u", resourceVersion: String(version) },
  };
  return { version, atMs: 0, before: undefined, after: object, object };
}

pure("createEventLog() gives all entries after a version, or says that they are gone", () => {
  fc.assert(fc.property(
    fc.uniqueArray(fc.integer({ min: 1, max: 60 })),
    fc.integer({ min: 0, max: 60 }),
    fc.integer({ min: 0, max: 60 }),
    (numbers, compactTo, from) => {
      const versions = numbers.toSorted((a, b) => a - b);
      const log = createEventLog<ApiObject>(100);
      for (const version of versions) log.append(entry(version));
      log.compact(compactTo);
      if (from < compactTo) return assert.throws(() => log.after(from), expired);
      const read: number[] = [];
      for (let at = log.after(from), next = log.at(at); next; next = log.at(++at)) {
        read.push(next.version);
      }
      assert.deepEqual(read, versions.filter((version) => version > from));
    },
  ));
});

pure("createEventLog() reports a reader that was overtaken by a compaction", () => {
  const log = createEventLog<ApiObject>(100);
  const position = log.after(0);
  [1, 2, 3].forEach((version) => log.append(entry(version)));
  assert.equal(log.at(position)?.version, 1);
  log.compact(2);
  assert.throws(() => log.at(position), expired);
  assert.equal(log.at(position + 2)?.version, 3);
});

pure("createEventLog() keeps the last entries up to its limit, and at most twice as many", () => {
  const log = createEventLog<ApiObject>(10);
  for (let version = 1; version <= 100; version++) log.append(entry(version));
  assert.equal(log.at(log.after(90))?.version, 91);
  assert.throws(() => log.after(79), expired);
});

pure("createEventLog() takes a version that is no number for one that is gone", () => {
  assert.throws(() => createEventLog<ApiObject>(10).after(Number("list1")), expired);
});
