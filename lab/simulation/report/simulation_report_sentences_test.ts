import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { assertTexts } from "../../../tests/fixtures/assert_sentences.ts";
import { syntheticRuns } from "../../../tests/fixtures/lab/run_records.ts";
import type { RunRecord, RunScores } from "../run_record.ts";
import { headline, keyFigures, renderReport } from "./render_report.ts";
import { SCORE_MEASURES } from "./score_measures.ts";
import { tallySentence } from "./change_list.ts";

/** Runs of two pods that cost the same but for the scores that are given. */
function runs(...scores: readonly Partial<RunScores>[]): RunRecord[] {
  return syntheticRuns({ pods: 2, minutes: 1 }).slice(0, scores.length).map((run, index) => ({
    ...run,
    scores: { ...run.scores, coresAllocated: 4, ...scores[index] },
  }));
}

/** Headline of a run in which pods were throttled this much, ms/s, and of one beside it. */
function compared(ours: number, other: Partial<RunScores>): string {
  return headline(runs({ throttledMsPerS: ours }, { throttledMsPerS: 20, ...other }));
}

function tallied(ours: readonly number[], theirs: readonly number[]): string {
  const [one, other] = runs({}, {});
  const [pod] = one?.pods ?? [];
  assert(one !== undefined && other !== undefined && pod !== undefined);
  const podsOf = (figures: readonly number[]) =>
    figures.map((throttledMsPerS, index) => ({ ...pod, name: `pod-${index}`, throttledMsPerS }));
  return tallySentence([
    { ...one, pods: podsOf(ours) },
    { ...other, algorithm: "static", pods: podsOf(theirs) },
  ]) ?? "";
}

pure("sentences of a report's headline and figures", () =>
  assertTexts(
    {
      "less": () => compared(12.34, { throttledMsPerS: 361.4 }),
      "more": () => compared(400, {}),
      "as much": () => compared(20, {}),
      "alone": () => headline(runs({ throttledMsPerS: 5 })),
      "key figure": () => keyFigures(runs({}, { throttledMsPerS: 361.4 }))[0]?.beside ?? "",
      "tally": () => tallied([1, 2, 9], [4, 5, 6]),
      "tally of equals": () => tallied([1, 0, 10.01], [2, 0, 10.02]),
      "reaction": () =>
        SCORE_MEASURES.find(({ name }) => name.startsWith("Reaction"))?.meaning ?? "",
    },
    `\
less
  In 1 minute, 2 pods on 8 cores were throttled 12.3 ms/s instead of 361 ms/s with limits as set.
more
  In 1 minute, 2 pods on 8 cores were throttled 400 ms/s, more than the 20.0 ms/s with limits as set.
as much
  In 1 minute, 2 pods on 8 cores were throttled 20.0 ms/s, as much as with limits as set.
alone
  In 1 minute, 2 pods on 8 cores were throttled 5.00 ms/s; no other algorithm was run beside it.
key figure
  361 ms/s with limits as set
tally
  2 of 3 pods were throttled less than with static, 1 more.
tally of equals
  1 of 3 pods was throttled less than with static, 0 more, 2 as much.
reaction
  from the start of a burst until the limit is at least the demand; a burst counts for an algorithm only if its demand exceeds that algorithm's limit, and a missed one enters median and P95 with its own length
`,
  ));

/** Texts in place of figures. */
function absent(change: Partial<RunRecord>): string {
  const idle = syntheticRuns({ pods: 2, minutes: 1, bursts: false, changes: false })
    .map((run): RunRecord => ({
      ...run,
      pods: run.pods.map((pod) => ({ ...pod, throttled: pod.throttled.map(() => 0) })),
      ...change,
    }));
  const scene = { description: "", traces: [], command: "" };
  return [...renderReport(idle, { scene }).matchAll(/<p class="nothing">([^<]*)</g)]
    .map(([, text]) => text).join(" ");
}

pure("sentences of a report's plots", () =>
  assertTexts(
    {
      "idle": () => absent({}),
      "no steps": () => absent({ pods: [], sumLimits: [], sumUsage: [], changes: [] }),
    },
    `\
idle
  No pod was throttled under any algorithm. No limit was changed.
no steps
  The runs recorded no steps to draw. The runs recorded no steps to draw. The runs recorded no pods to draw. No limit was changed.
`,
  ));
