/**
 * Objects, events and metrics have reasons of the lists and no others.
 *
 * @module
 */
import { pure } from "./fixtures/pure.ts";
import assert from "node:assert/strict";
import type { BidEffect } from "../controller/allocation/bounds/bid_rules.ts";
import type { BoundsDraft } from "../controller/allocation/bounds/bounds.ts";
import type { KnownStatus } from "../controller/allocation/allocation_status.ts";
import type { AllocationObserver } from "../controller/allocation/ports.ts";
import type { MarketEvent, ObjectEvent } from "../shared/api/ports.ts";
import type { refusalReason } from "../shared/resize/refusal.ts";
import type { Decision } from "../shared/resize/chain.ts";
import { type AnyReason, listedReason, REASON_LISTS } from "../shared/api/reasons/reasons.ts";
import { reasonSchema } from "../shared/api/object.ts";
import type { Eligibility } from "../shared/placement/eligibility.ts";
import type { MoveWait } from "../shared/placement/decide_move.ts";
import { MARKET_REASONS } from "../shared/api/reasons/market_reasons.ts";
import type { GuardVerdict } from "../shared/rightsizing/guards/rightsizing_snapshot.ts";
import type { RightsizingDecision } from "../shared/rightsizing/guards/decide_rightsizing.ts";
import type { ApplyFailure, WorkloadEvent } from "../shared/rightsizing/guards/workload_events.ts";
import type { PaceChange } from "../shared/pacing/paced_container.ts";
import { projectFiles } from "../tools/project_files.ts";
import type { ResizeAnswer } from "../controller/resize/send_changes.ts";
import type { OutOfScope, PodVerdict } from "../shared/resize/inputs/resize_input.ts";

/**
 * `"listed"` where only reasons of the lists fit; a type that takes any text does not compile below.
 */
type Kind<T> = [T] extends [AnyReason | undefined] ? "listed" : "free";
type ReasonOf<T> = T extends { readonly reason?: infer R } ? R : never;
type Reported<K extends keyof AllocationObserver> = Parameters<
  NonNullable<AllocationObserver[K]>
>[0];

pure("code that publishes a reason takes reasons of the lists only, as the compiler says", () => {
  const places: {
    readonly "checks": Kind<ReasonOf<NonNullable<PodVerdict>>>;
    readonly "decisions": Kind<Decision["reason"]>;
    readonly "resizes": Kind<ResizeAnswer["reason"]>;
    readonly "scope": Kind<OutOfScope["reason"]>;
    readonly "refusals": Kind<ReturnType<typeof refusalReason>>;
    readonly "statuses": Kind<KnownStatus["reason"]>;
    readonly "changes of the market": Kind<PaceChange["reason"]>;
    readonly "rules of bids": Kind<BidEffect["reason"]>;
    readonly "rules of bounds": Kind<BoundsDraft["rules"][number]["reason"]>;
    readonly "events": Kind<MarketEvent["reason"]>;
    readonly "events as sent": Kind<ObjectEvent["reason"]>;
    readonly "guards": Kind<ReasonOf<NonNullable<GuardVerdict>>>;
    readonly "decisions of rightsizing": Kind<ReasonOf<RightsizingDecision>>;
    readonly "failures of rightsizing": Kind<ApplyFailure["reason"]>;
    readonly "events of rightsizing": Kind<WorkloadEvent["reason"]>;
    readonly "gate of placement": Kind<ReasonOf<Eligibility>>;
    readonly "waits of placement": Kind<MoveWait["wait"]>;
    readonly "metric of resizes": Kind<Reported<"resized">["reason"]>;
    readonly "metric of restores": Kind<Reported<"released">>;
    readonly "metric of held changes": Kind<Reported<"held">>;
  } = {
    "checks": "listed",
    "decisions": "listed",
    "resizes": "listed",
    "scope": "listed",
    "refusals": "listed",
    "statuses": "listed",
    "changes of the market": "listed",
    "rules of bids": "listed",
    "rules of bounds": "listed",
    "events": "listed",
    "events as sent": "listed",
    "guards": "listed",
    "decisions of rightsizing": "listed",
    "failures of rightsizing": "listed",
    "events of rightsizing": "listed",
    "gate of placement": "listed",
    "waits of placement": "listed",
    "metric of resizes": "listed",
    "metric of restores": "listed",
    "metric of held changes": "listed",
  };
  assert.deepEqual([...new Set(Object.values(places))], ["listed"]);
  const free: Kind<string> = "free";
  assert.equal(free, "free");
});

pure(
  "reasonSchema takes each reason of the lists, those of newer versions, and CamelCase only",
  () => {
    const reasons = Object.values(REASON_LISTS).flatMap((list) => Object.keys(list));
    for (const reason of [...reasons, "HPACapped"]) {
      assert.ok(
        reasonSchema.safeParse(reason).success,
        reason,
      );
    }
    for (const reason of ["", "applied", "Not yet", "Applied.", `A${"b".repeat(128)}`]) {
      assert.ok(!reasonSchema.safeParse(reason).success, reason);
    }
  },
);

pure("listedReason() puts one reason in place of those of other versions", () => {
  assert.equal(listedReason(MARKET_REASONS, "Throttled"), "Throttled");
  assert.equal(listedReason(MARKET_REASONS, "MarketOff"), "OtherVersion");
  assert.equal(listedReason(MARKET_REASONS, "constructor"), "OtherVersion");
});

/** Where programs say what becomes of a limit. */
const SOURCES = /^(agent|controller|shared|adapters|cli)\/.*(?<!_test)\.ts$/;
/** A literal in the place of a reason. */
const LITERAL = /\b(?:reason|cause|done|wait): "(\w+)"/g;

Deno.test({
  name: "the programs' sources name no reason that is in no list",
  permissions: { read: true },
  async fn() {
    const root = new URL("../", import.meta.url);
    const reasons = new Set(Object.values(REASON_LISTS).flatMap((list) => Object.keys(list)));
    const found = new Set<string>();
    for (const path of await projectFiles(root, ".ts")) {
      if (!SOURCES.test(path)) continue;
      const text = await Deno.readTextFile(new URL(path, root));
      for (const [, reason = ""] of text.matchAll(LITERAL)) {
        assert.ok(reasons.has(reason), `${path} has reason "${reason}"`);
        found.add(reason);
      }
    }
    // A pattern that no longer finds anything proves nothing.
    assert.ok(found.size > 40, `${found.size}`);
  },
});
