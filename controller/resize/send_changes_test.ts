import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { LimitChange, PodResizer, ResourceChange } from "../../shared/resize/patch.ts";
import {
  sampleContainer,
  sampleDesired,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { recordedAudit } from "../../tests/fixtures/rightsizing/recorded_ports.ts";
import {
  describeLimits,
  type RequestedChanges,
  type ResizeAnswer,
  sendChanges,
  type SentChanges,
} from "./send_changes.ts";

type Source = RequestedChanges["source"];

const POD = samplePod("web");
const FULL = new ApiError(403, "Forbidden", "exceeded quota");

function change(name: string, limitCPU: number): LimitChange {
  return { name, sidecar: false, requests: {}, limits: { cpu: limitCPU } };
}

/**
 * Sends changes of two containers at 300 m with original limits of 200 m: the requests as `manager
 * version names`, and the answers as they are counted and audited.
 */
async function send(
  changes: readonly ResourceChange[],
  answers: readonly (string | Error)[],
  source: Source = "market",
) {
  const containers = ["app", "jvm"].map((name) =>
    sampleContainer({ name, limits: { cpu: 300, memory: 2 ** 20 } })
  );
  const requests: string[] = [];
  const counted: ResizeAnswer[] = [];
  const audit = recordedAudit();
  const reason = source === "rightsizing" ? "OptimizationApplied" : "Throttled";
  const resizer: PodResizer = {
    resize(_namespace, _name, { metadata, spec }, { manager = "", auditID } = {}) {
      const answer = answers[requests.length] ?? "";
      const names = spec.containers?.map(({ name }) => name).join("+");
      assert.equal(auditID, `id${requests.length}`);
      requests.push(`${manager} ${metadata.resourceVersion} ${names}`);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  const pod = { ...POD, containers, metadata: { ...POD.metadata, resourceVersion: "1" } };
  const sent = await sendChanges(
    {
      ...{ pod, source, reason, changes, originals: new Map([["app", 200], ["jvm", 200]]) },
      ...(source === "market" ? { clearing: sampleDesired("300m").market } : {}),
    },
    { resizer, audit, observer: { resized: (answer) => void counted.push(answer) } },
  );
  return { sent, requests, counted, audited: audit.changes };
}

pure("sendChanges() sends a patch for each field manager, first what sets CPU free", async () => {
  const raised = [change("app", 400), change("jvm", 250)];
  const own = [change("app", 200), change("jvm", 200)];
  const mixed = [change("app", 200), change("jvm", 400)];
  const lower = [change("app", 200), change("jvm", 100)];
  const [APP, JVM] = ["mbcas-restore 1 app", "mbcas/200m,200m 8 jvm"] as const;
  const rows: readonly (readonly [
    changes: readonly ResourceChange[],
    requests: readonly string[],
    sent?: Partial<SentChanges>,
  ])[] = [
    [raised, ["mbcas/200m,200m 1 app+jvm"], { version: "8" }],
    [own, ["mbcas-restore 1 app+jvm"], { version: "8" }],
    [mixed, [APP, JVM]],
    [lower, ["mbcas/200m,200m 1 jvm", "mbcas-restore 8 app"], { changes: lower.toReversed() }],
  ];
  for (const [changes, requests, expected] of rows) {
    const found = await send(changes, ["8", "9"]);
    assert.deepEqual(found.requests, requests);
    assert.deepEqual(found.sent, { changes, version: "9", refusal: undefined, ...expected });
  }
});

pure("sendChanges() ends with a refusal, and says what was taken before", async () => {
  const mixed = [change("app", 200), change("jvm", 400)];
  const [none, half] = [await send(mixed, [FULL]), await send(mixed, ["8", FULL])];
  assert.deepEqual(none.sent, { changes: [], version: undefined, refusal: FULL });
  assert.deepEqual(half.sent, { changes: [change("app", 200)], version: "8", refusal: FULL });
  await assert.rejects(send(mixed, [new TypeError("a bug")]), /a bug/);
});

pure("sendChanges() records a limit that makes room for a request", async () => {
  const request = { name: "app", sidecar: false, requests: { cpu: 400 }, limits: {} };
  const { sent, audited } = await send([request], ["8", "9"], "rightsizing");
  assert.deepEqual(sent.changes, [request]);
  assert.deepEqual(audited.map(({ source, after }) => [source, after]), [
    ["rightsizing", { limits: { cpu: "400m" } }],
    ["rightsizing", { requests: { cpu: "400m" } }],
  ]);
});

pure("sendChanges() counts each answer, and records the change with it", async () => {
  const failed = (status: number) => new ApiError(status, "", "no");
  const forQuota = { refusedFor: "QuotaExceeded", message: "exceeded quota" };
  const no = { message: "no" };
  const table: readonly (readonly [Source, string | Error, counted: string, line?: object])[] = [
    ["market", "8", "accepted Throttled"],
    ["restore", "8", "accepted Throttled restoring"],
    ["rightsizing", "8", "accepted OptimizationApplied"],
    ["market", FULL, "refused QuotaExceeded", forQuota],
    ["restore", FULL, "refused RestoreBlocked restoring", forQuota],
    ["rightsizing", FULL, "refused QuotaExceeded", forQuota],
    ["market", failed(503), "busy Throttled", no],
    ["market", failed(409), "conflict Throttled", no],
    ["market", failed(404), "gone Throttled", no],
  ];
  for (const [source, answer, expected, line = {}] of table) {
    const { counted, audited } = await send([change("app", 400)], [answer], source);
    const answers = counted.map(({ outcome, reason, restoring }) =>
      `${outcome} ${reason}${restoring ? " restoring" : ""}`
    );
    assert.deepEqual(answers, [expected]);
    const [outcome] = expected.split(" ");
    assert.deepEqual(audited, [{
      ...{ source, action: "resize", outcome, auditID: "id0", ...line },
      reason: source === "rightsizing" ? "OptimizationApplied" : "Throttled",
      ...{ kind: "Pod", namespace: "shop", name: "web", uid: POD.metadata.uid, node: POD.nodeName },
      ...{
        container: "app",
        before: { limits: { cpu: "300m" } },
        after: { limits: { cpu: "400m" } },
      },
      ...(source === "market" ? { price: 0.01, boundsRevision: 3 } : {}),
    }]);
  }
});

pure("sendChanges() records a line for each container that changes", async () => {
  const moved = {
    ...change("jvm", 400),
    requests: { cpu: 400, memory: 2 ** 20 },
    limits: { cpu: 400, memory: 2 ** 21 },
  };
  const { audited } = await send([change("app", 200), moved], ["8", FULL]);
  const lines = audited.map(({ auditID, outcome, container }) => [auditID, outcome, container]);
  assert.deepEqual(lines, [["id0", "accepted", "app"], ["id1", "refused", "jvm"]]);
  assert.deepEqual(audited.map(({ before, after }) => [before, after]), [
    [{ limits: { cpu: "300m" } }, { limits: { cpu: "200m" } }],
    [
      { requests: { cpu: "100m" }, limits: { cpu: "300m", memory: "1Mi" } },
      { requests: { cpu: "400m", memory: "1Mi" }, limits: { cpu: "400m", memory: "2Mi" } },
    ],
  ]);
});

pure("describeLimits() names each container with its limit before and after", () => {
  const proxy = sampleContainer({ name: "proxy", limits: { cpu: 50 } });
  const pod = samplePod("web", { containers: [sampleContainer(), proxy] });
  const changes = [change("app", 450), change("proxy", 40)];
  assert.equal(describeLimits(pod, changes), "app 200m → 450m, proxy 50m → 40m");
  const moved = [change("app", 450), { ...change("proxy", 40), requests: { cpu: 40 } }];
  assert.equal(describeLimits(pod, moved), "app 200m → 450m, proxy 50m → 40m (request and limit)");
});
