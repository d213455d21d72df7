import assert from "node:assert/strict";
import { parseAudit } from "../audit_log.ts";
import { answerKind, isForeseeable, isRefusal } from "./refusal_kind.ts";

const LINE = {
  kind: "Event",
  requestReceivedTimestamp: "2026-01-01T00:00:00.000000Z",
  user: { username: "system:serviceaccount:mbcas-system:mbcas-controller" },
  objectRef: { resource: "pods", subresource: "resize", namespace: "try-1", name: "worker-3" },
};

function kindOf(status: Readonly<Record<string, unknown>>): string {
  const [answer] = parseAudit(`${JSON.stringify({ ...LINE, responseStatus: status })}\n`);
  return answerKind(answer ?? assert.fail());
}

Deno.test("parseAudit() reads user, pod and answer, and leaves half a line out", () => {
  const status = {
    code: 403,
    message: "no",
    details: { causes: [{ reason: "NodeCapacity", message: "full" }] },
  };
  const line = JSON.stringify({ ...LINE, responseStatus: status });
  assert.deepEqual(parseAudit(`${line}\n${line.slice(0, 40)}`), [{
    at: "2026-01-01T00:00:00.000000Z",
    user: "system:serviceaccount:mbcas-system:mbcas-controller",
    writer: "",
    namespace: "try-1",
    pod: "worker-3",
    code: 403,
    message: "no",
    causes: ["NodeCapacity"],
  }]);
});

Deno.test("answerKind() distinguishes refusals that a check could have foreseen from others", () => {
  const quota = 'pods "a" is forbidden: exceeded quota: cpu, requested: limits.cpu=100m, used: ' +
    "limits.cpu=1150m, limited: limits.cpu=1200m";
  const range = 'pods "a" is forbidden: maximum cpu usage per Container is 300m, but limit is 310m';
  const qos =
    'Pod "a" is invalid: spec: Invalid value: "Burstable": Pod QOS Class may not change ' +
    "as a result of resizing";
  assert.equal(kindOf({ code: 403, message: quota }), "quota");
  assert.equal(kindOf({ code: 403, message: range }), "LimitRange");
  assert.equal(kindOf({ code: 422, message: qos }), "QoS");
  assert.equal(
    kindOf({ code: 403, message: "no", details: { causes: [{ reason: "NodeCapacity" }] } }),
    "NodeCapacity",
  );
  assert.equal(kindOf({ code: 422, message: "limits: Forbidden" }), "invalid");
  assert.equal(kindOf({ code: 403, message: "User cannot patch resource" }), "other");
  assert.ok(
    ["quota", "LimitRange", "QoS", "NodeCapacity", "invalid"].every((kind) =>
      isForeseeable(kind as "quota") && isRefusal(kind as "quota")
    ),
  );
  assert.ok(!isForeseeable("other") && isRefusal("other"));
});

Deno.test("answerKind() takes conflicts, deleted pods and back-off responses for no refusals", () => {
  const conflict = "Operation cannot be fulfilled on pods: the object has been modified";
  assert.equal(kindOf({ code: 200 }), "accepted");
  assert.equal(kindOf({ code: 409, message: conflict }), "conflict");
  assert.equal(kindOf({ code: 404, message: 'pods "a" not found' }), "gone");
  assert.equal(
    kindOf({ code: 422, message: "metadata.uid: Invalid value: field is immutable" }),
    "gone",
  );
  assert.equal(kindOf({ code: 429, message: "too many requests" }), "busy");
  assert.ok((["accepted", "conflict", "gone", "busy"] as const).every((kind) => !isRefusal(kind)));
});
