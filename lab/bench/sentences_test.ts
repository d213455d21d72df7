import assert from "node:assert/strict";
import { assertSentences, messageOf } from "../../tests/fixtures/assert_sentences.ts";
import type { Kubectl } from "../../tests/cluster/kubectl.ts";
import { crowdReport } from "./crowded/crowd_report.ts";
import type { CrowdResult } from "./crowded/crowd_result.ts";
import { EXAMPLE } from "./crowded/example_result.ts";
import { parseCommandLine } from "./crowded/command_line.ts";
import { verdictsOf } from "./crowded/verdicts.ts";
import { openWriteAccount } from "./crowded/write_account.ts";
import { reactionReport } from "./reaction/report.ts";
import { type ComparedAlgorithm, comparisonTable } from "./real_node/comparison.ts";
import { modelRun } from "./real_node/model_run.ts";
import { parseCommandLine as parseRealNode } from "./real_node/command_line.ts";
import { solverTable } from "./solver/table.ts";

function answered(answer: object): string {
  assert.ok("text" in answer);
  return String(answer.text).trim();
}

/** Goals that are not met, with what is found. */
function missed(change: Partial<CrowdResult>): string {
  return verdictsOf({ ...EXAMPLE, ...change }).filter(({ met }) => !met)
    .map(({ goal, found }) => `${goal}: ${found}`).join("\n");
}

/** Lines of the report that hold `part`. */
function reported(part: string, ...changes: readonly Partial<CrowdResult>[]): string {
  const results = changes.map((change): CrowdResult => ({ ...EXAMPLE, ...change }));
  return crowdReport(results).split("\n").filter((line) => line.includes(part)).join("\n").trim();
}

const REFUSAL = { user: "controller", pod: "web-1", code: 403, kind: "quota", message: "no" };

/** Answers nothing but the name of a pod. */
const KUBECTL: Kubectl = {
  must: (args) => args.includes("pods") ? Promise.resolve("one") : Promise.reject(new Error("no")),
  run: () => assert.fail(),
};

Deno.test("sentences of the crowded bench", () =>
  assertSentences([
    [
      "unknown algorithm",
      () => answered(parseCommandLine(["--laws", "vpa"])),
      "error: option '--laws <a,b>' argument 'vpa' is invalid. Expected names of with, without.",
    ],
    [
      "refusal",
      () => missed({ writes: { ...EXAMPLE.writes, notAccepted: [{ ...REFUSAL, atS: 1 }] } }),
      "no write is refused that a check could have foreseen: 1 of 41 resizes; the controllers " +
      "counted 0",
    ],
    [
      "counted refusals",
      () =>
        missed({
          writes: { ...EXAMPLE.writes, outcomes: [{ what: "refused QuotaExceeded", count: 2 }] },
        }),
      "no write is refused that a check could have foreseen: 0 of 41 resizes; the controllers " +
      "counted 2",
    ],
    [
      "quota",
      () => missed({ quotas: EXAMPLE.quotas.map((one) => ({ ...one, limits: [900, 1001] })) }),
      "limits and what is counted of them stay within each quota: 1 of 2 samples over: shop at 1 s: " +
      "limits 1001, counted 1000, allowed 1000 m",
    ],
    [
      "opted out",
      () => missed({ writes: { ...EXAMPLE.writes, ofOptedOut: 2 } }),
      "the opted-out pod's spec stays the same: the same, 2 resizes were asked for",
    ],
    [
      "pods not created",
      () => reported("pods that", { notCreated: [{ what: "no room", count: 3 }] }),
      "pods that could not be made: 3 no room",
    ],
    [
      "disturbed",
      () => reported("0.90 CPUs", { figures: { ...EXAMPLE.figures, othersCores: 0.9 } }),
      "other programs used 0.90 CPUs: play it again on a quiet machine",
    ],
    ["one law", () =>
      reported("replicas can", {}), "replicas can't be compared: no run without the product"],
    [
      "both algorithms",
      () =>
        reported("replicas, ", {}, { law: "without" }),
      "replicas, mean of the runs' medians: 4.00 with, 4.00 without; +0.00, within 1",
    ],
    [
      "no audit log",
      () =>
        messageOf(() => openWriteAccount({ kubectl: KUBECTL, auditFile: "/no" })),
      "Cannot find the audit log /no: the cluster is older than the harness; bring it down and up",
    ],
  ]));

const FIGURES = {
  reactionMsMedian: 500,
  reactionMsP95: 900,
  bursts: 34,
  burstsMet: 4,
  burstsMissed: 2,
  throttledMsPerS: 100,
  changesPerPodMinute: 1.5,
  p50Ms: 8,
  p99Ms: 400,
  completed: 60_000,
  coresAllocated: 1.5,
  coresUsed: 0.56,
};
const ALGORITHM: ComparedAlgorithm = {
  law: "static",
  real: FIGURES,
  model: { ...FIGURES, throttledMsPerS: 70 },
  othersCores: 1.25,
  accounts: { podLevel: 60, containerLevel: 45.5, standing: 130 },
};

Deno.test("sentences of the other benches", () =>
  assertSentences([
    [
      "unknown algorithm",
      () => answered(parseRealNode(["--laws", "captain"])),
      "error: option '--laws <a,b>' argument 'captain' is invalid. Expected names of static, hpa, " +
      "vpa, ours.",
    ],
    [
      "real node",
      () =>
        comparisonTable([ALGORITHM]).split("\n").filter((line) => line.startsWith("static: ")).join(
          "\n",
        ),
      "static: the kernel counts 60.0 ms/s at the pods' level and 45.5 at the containers'; threads " +
      "with work stood still for 130.0, waiting for a CPU included\n" +
      "static: the model's throttled time is off by -30 %, outside 20 %\n" +
      "static: the model's median reaction is off by +0 %, within 20 %\n" +
      "static: other programs used 1.25 CPUs: play it again on a quiet machine",
    ],
    [
      "no model",
      () => messageOf(() => modelRun({ seed: 1, cores: 1, minutes: 1, pods: [] }, "hpa")),
      "Cannot model hpa: a simulated pod has no replicas",
    ],
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
