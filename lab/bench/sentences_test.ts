import assert from "node:assert/strict";
import { assertSentences, messageOf } from "../../tests/fixtures/assert_sentences.ts";
import type { Kubectl } from "../../tests/cluster/kubectl.ts";
import { EXAMPLE } from "./crowded/example_result.ts";
import { type CrowdResult, verdictsOf } from "./crowded/verdicts.ts";
import { openWriteAccount } from "./crowded/write_account.ts";
import { reactionReport } from "./reaction/report.ts";
import { solverTable } from "./solver/table.ts";

/** Goals that are not met, with what is found. */
function missed(change: Partial<CrowdResult>): string {
  return verdictsOf({ ...EXAMPLE, ...change }).filter(({ met }) => !met)
    .map(({ goal, found }) => `${goal}: ${found}`).join("\n");
}

const ACCEPTED = { atS: 1, kind: "accepted", isOfOptedOut: false, message: "" } as const;

/** Answers nothing but the name of a pod. */
const KUBECTL: Kubectl = {
  must: (args) => args.includes("pods") ? Promise.resolve("one") : Promise.reject(new Error("no")),
  run: () => assert.fail(),
};

Deno.test("sentences of the crowded bench", () =>
  assertSentences([
    [
      "refusal",
      () =>
        missed({
          answers: [{ atS: 1, kind: "quota", isOfOptedOut: false, message: "no" }, ACCEPTED],
        }),
      "no write is refused that a check could have foreseen: 1 of 2 resizes; the controllers " +
      "counted 0: no at 1.0 s",
    ],
    [
      "counted refusals",
      () => missed({ outcomes: [{ what: "refused QuotaExceeded", count: 2 }] }),
      "no write is refused that a check could have foreseen: 0 of 39 resizes; the controllers " +
      "counted 2",
    ],
    [
      "quota",
      () => missed({ quotas: EXAMPLE.quotas.map((one) => ({ ...one, limits: 1000 + one.atS })) }),
      "limits and what is counted of them stay within each quota: 1 of 2 samples over: shop at 1 s: " +
      "limits 1001, counted 1000, allowed 1000 m",
    ],
    [
      "opted out",
      () => missed({ answers: [{ ...ACCEPTED, isOfOptedOut: true }] }),
      "the opted-out pod's spec stays the same: the same, 1 resizes were requested",
    ],
    [
      "no audit log",
      () => messageOf(() => openWriteAccount({ kubectl: KUBECTL, auditFile: "/no" })),
      "Cannot find the audit log /no: the cluster is older than the harness; bring it down and up",
    ],
  ]));

Deno.test("sentences of the other benches", () =>
  assertSentences([
    ["no burst", () =>
      messageOf(() =>
        reactionReport([], {
          ready: 9,
          atCeiling: "0 others were at their ceilings",
          scene: "scene",
          timeoutMs: 1,
          missed: 0,
        })
      ), "Cannot report reaction times: no burst asked for a change"],
    [
      "solver",
      () => solverTable({ times: [], residuals: [] }).split("\n")[3] ?? "",
      "Distance from the optimum (at most 1e-9 is asked for)",
    ],
  ]));
