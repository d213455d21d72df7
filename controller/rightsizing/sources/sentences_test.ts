import { silentLog } from "../../../shared/log.ts";
import { createVirtualClock } from "../../../simulation/virtual_clock.ts";
import { assertSentences } from "../../../tests/fixtures/assert_sentences.ts";
import type { UsageAnswer, UsageSource } from "../ports.ts";
import { createUsageSources } from "./usage_sources.ts";

const NEVER: UsageSource = { usage: () => new Promise<UsageAnswer>(() => {}) };

/** Message of what custom source `billing` answers, where these are configured. */
async function answered(...custom: readonly (readonly [string, () => UsageSource])[]) {
  const clock = createVirtualClock({ wallStart: 0 });
  const sources = createUsageSources({
    prometheus: () => NEVER,
    metricsServer: () => NEVER,
    custom: new Map(custom),
    clock,
    log: silentLog,
  });
  const policy = { provider: "custom", customSource: "billing", intervalMs: 1 } as const;
  const asked = sources.of(policy).usage({
    namespace: "shop",
    workload: { kind: "Deployment", name: "web", uid: "u" },
    pods: [],
    otherPods: [],
    containers: [],
    window: { fromMs: 0, toMs: 1 },
  }, new AbortController().signal);
  await clock.runUntil(300_000);
  const answer = await asked;
  return "problem" in answer ? answer.message : "";
}

function failingStart(): never {
  throw new Error("no address");
}

Deno.test({
  name: "sentences of sources of usage",
  permissions: "none",
  fn: () =>
    assertSentences([
      ["unreachable", () => answered(["billing", () => NEVER]), "no answer came within 300 s"],
      [
        "unavailable",
        () => answered(["billing", failingStart]),
        "the source could not be started: no address",
      ],
      [
        "unavailable, other sources",
        () => answered(["a", () => NEVER], ["b", () => NEVER]),
        'no custom source "billing" is configured; there are: a, b',
      ],
      [
        "unavailable, no sources",
        () => answered(),
        'no custom source "billing" is configured; there are none',
      ],
    ]),
});
