import assert from "node:assert/strict";
import type { Kubectl } from "../../../tests/cluster/kubectl.ts";
import { eventMessages, openWriteAccount, tally } from "./write_account.ts";

const LABELS = 'resource="pods",subresource="resize",verb="PATCH"';

/** Answers each path with what the account is at then. */
function kubectlOf(pages: () => Readonly<Record<string, string>>): Kubectl {
  const must = (args: readonly string[]): Promise<string> => {
    if (args.includes("pods")) return Promise.resolve("one");
    const page = Object.entries(pages()).find(([path]) => args.at(-1)?.endsWith(path));
    return page === undefined
      ? Promise.reject(new Error(args.join(" ")))
      : Promise.resolve(page[1]);
  };
  return { must, run: () => assert.fail() };
}

function pages(conflicts: number, accepted: number): Readonly<Record<string, string>> {
  return {
    "proxy/metrics": `mbcas_resizes_total{outcome="accepted",reason="DemandFell"} ${accepted}\n`,
    "/metrics": `apiserver_request_total{code="200",${LABELS}} 5\n` +
      `apiserver_request_total{code="409",${LABELS}} ${conflicts}\n` +
      'apiserver_request_total{code="404",resource="pods",subresource="",verb="GET"} 9\n' +
      `apiserver_request_total{code="200",resource="podallocations",verb="APPLY"} ${accepted}\n`,
  };
}

Deno.test("openWriteAccount() reports what came since: resizes, and writes of all that has to do with limits", async () => {
  const auditFile = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(auditFile, '{"objectRef":{"name":"old"}}\n');
    let now = pages(1, 4);
    const close = await openWriteAccount({ kubectl: kubectlOf(() => now), auditFile });
    now = pages(3, 10);
    await Deno.writeTextFile(auditFile, '{"objectRef":{"name":"new"}}\n', { append: true });
    const { answers, byCode, mutations, outcomes, held, lostControllers } = await close();
    assert.deepEqual(answers.map(({ pod }) => pod), ["new"]);
    assert.deepEqual(byCode, [{ what: "409", count: 2 }]);
    assert.deepEqual(mutations, [
      { what: "podallocations", count: 6 },
      { what: "pods/resize", count: 2 },
    ]);
    assert.deepEqual(outcomes, [{ what: "accepted DemandFell", count: 6 }]);
    assert.deepEqual([held, lostControllers], [[], 0]);
  } finally {
    await Deno.remove(auditFile);
  }
});

Deno.test("openWriteAccount() refuses a cluster with a server that keeps no audit log", async () => {
  const auditFile = `${await Deno.makeTempDir()}/audit.log`;
  await assert.rejects(openWriteAccount({ kubectl: kubectlOf(() => ({})), auditFile }), {
    message: /audit log .*audit\.log/,
  });
});

Deno.test("eventMessages() counts equal messages, series too", async () => {
  const items = [{ message: "full", count: 2 }, { message: "full", series: { count: 3 } }, {
    message: "other",
  }];
  const asked: unknown[] = [];
  const connection = {
    request: (request: unknown) => {
      asked.push(request);
      return Promise.resolve({ items });
    },
    lines: () => assert.fail(),
  };
  assert.deepEqual(await eventMessages(connection, { namespaces: ["a"], reason: "Failed" }), [
    { what: "full", count: 5 },
    { what: "other", count: 1 },
  ]);
  assert.deepEqual(asked, [
    { path: "/api/v1/namespaces/a/events", query: { fieldSelector: "reason=Failed" } },
  ]);
});

Deno.test("tally() puts the most frequent first", () => {
  const entries = ["a", "b", "b"].map((what) => ({ what, count: 1 }));
  assert.deepEqual(tally(entries), [{ what: "b", count: 2 }, { what: "a", count: 1 }]);
});
