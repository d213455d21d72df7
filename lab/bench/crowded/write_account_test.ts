import assert from "node:assert/strict";
import type { Kubectl } from "../../../tests/cluster/kubectl.ts";
import { openWriteAccount } from "./write_account.ts";

/** Answers with the name of a pod, or with this page of metrics. */
function kubectlOf(page: () => string): Kubectl {
  return {
    must: (args) => Promise.resolve(args.includes("pods") ? "one" : page()),
    run: () => assert.fail(),
  };
}

function metrics(accepted: number): string {
  return `# TYPE mbcas_resizes_total counter
mbcas_resizes_total{outcome="accepted",reason="DemandFell"} ${accepted}
mbcas_resizes_total{outcome="refused",reason=""} 1e1
mbcas_resizes_total_other{outcome="x",reason=""} ${accepted}
`;
}

Deno.test("openWriteAccount() reports the resizes since it was opened", async () => {
  const auditFile = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(auditFile, '{"objectRef":{"name":"old"}}\n');
    let page = metrics(4);
    const close = await openWriteAccount({ kubectl: kubectlOf(() => page), auditFile });
    page = metrics(10);
    await Deno.writeTextFile(auditFile, '{"objectRef":{"name":"new"}}\n', { append: true });
    const { answers, outcomes } = await close();
    assert.deepEqual(answers.map(({ pod }) => pod), ["new"]);
    assert.deepEqual(outcomes, [{ what: "accepted DemandFell", count: 6 }]);
  } finally {
    await Deno.remove(auditFile);
  }
});

Deno.test("openWriteAccount() refuses a cluster with a server that keeps no audit log", async () => {
  const auditFile = `${await Deno.makeTempDir()}/audit.log`;
  await assert.rejects(openWriteAccount({ kubectl: kubectlOf(() => ""), auditFile }), {
    message: /audit log .*audit\.log/,
  });
});
