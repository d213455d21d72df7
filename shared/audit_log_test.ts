import assert from "node:assert/strict";
import { pure } from "../tests/fixtures/pure.ts";
import { type AuditedChange, auditLineSchema, createAuditLog } from "./audit_log.ts";

const CHANGE: AuditedChange = {
  source: "market",
  action: "resize",
  outcome: "accepted",
  reason: "Throttled",
  namespace: "shop",
  kind: "Pod",
  name: "web",
  uid: "u1",
};

/** A log at 1970 with its lines; `at` is the monotonic time, ms. */
function stage() {
  const lines: string[] = [];
  const state = { at: 0, drops: 0 };
  const log = createAuditLog({
    write: (line) => void lines.push(line),
    clock: { wall: () => 0, monotonic: () => state.at },
    newID: () => `id${lines.length}`,
    onDrop: () => state.drops++,
  });
  return { log, lines, state };
}

pure("createAuditLog() writes a line of JSON as its schema describes it", () => {
  const { log, lines } = stage();
  const request = log.begin();
  request.record({ ...CHANGE, container: "app", message: "é\n".repeat(1000) });
  const [line = ""] = lines;
  assert.match(line, /^[^\n]+\n$/);
  const { message, ...others } = auditLineSchema.strict().parse(JSON.parse(line));
  assert.equal(message?.length, 1000);
  assert.deepEqual(others, {
    ...{ "@timestamp": "1970-01-01T00:00:00.000Z", logger: "audit", severity: "INFO" },
    ...{ auditID: "id0", ...CHANGE, container: "app" },
  });
  assert.equal(request.auditID, "id0");
});

pure("createAuditLog() drops what exceeds its rate, and counts that in the next line", () => {
  const { log, lines, state } = stage();
  for (let index = 0; index < 2003; index++) log.begin().record(CHANGE);
  assert.deepEqual([lines.length, state.drops], [2000, 3]);
  state.at = 5;
  log.begin().record(CHANGE);
  const [count = "", next = "", ...rest] = lines.slice(2000);
  const { severity, dropped } = JSON.parse(count);
  assert.deepEqual([severity, dropped, JSON.parse(next).severity, rest], [
    "WARNING",
    3,
    "INFO",
    [],
  ]);
  log.begin().record(CHANGE);
  state.at = 10;
  log.begin().record(CHANGE);
  assert.equal(JSON.parse(lines.at(-2) ?? "").dropped, 1);
});
