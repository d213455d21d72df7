/**
 * The contract of `RightsizingEvents`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type {
  EventSubject,
  RightsizingEvent,
  RightsizingEvents,
} from "../../controller/rightsizing/ports.ts";
import { OPTIPOD_GROUP_VERSION } from "../../shared/api/optimization_policy.ts";
import {
  type ContractHarness,
  contractTests,
  type OpenHarness,
} from "./support/contract_harness.ts";

/** A server that keeps events. */
export interface RightsizingEventsHarness extends ContractHarness {
  readonly subject: RightsizingEvents;
  /** A namespace of the server. */
  readonly namespace: string;
  /** Resolves once `count` events of the object are there, in no particular order. */
  seen(uid: string, count: number): Promise<readonly RightsizingEvent[]>;
}

/** Registers the suite. */
export function rightsizingEventsContract(open: OpenHarness<RightsizingEventsHarness>): void {
  const contract = contractTests(open);
  const workload = (namespace: string): EventSubject => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    namespace,
    name: "web",
    uid: "0b9a2d6e-52f1-4a5e-8c63-2d9f7b1e4a10",
  });
  const policy = (namespace: string): EventSubject => ({
    apiVersion: OPTIPOD_GROUP_VERSION,
    kind: "OptimizationPolicy",
    namespace,
    name: "web",
    uid: "7c1f3e58-9d44-4f0b-b0f5-6a2e8c9d1b72",
  });
  const skipped = (about: EventSubject): RightsizingEvent => ({
    about,
    type: "Normal",
    reason: "WorkloadSkipped",
    message: "Cooldown: the next change may come in 60 s",
  });

  contract("emit() reports on a workload and on its policy, apart", async (harness) => {
    const { subject, namespace } = harness;
    const ofWorkload = skipped(workload(namespace));
    const failed: RightsizingEvent = {
      ...ofWorkload,
      type: "Warning",
      reason: "UpdateFailed",
      message: "no room",
    };
    const ofPolicy = skipped(policy(namespace));
    for (const event of [ofWorkload, failed, ofPolicy]) subject.emit(event);
    const own = await harness.seen(ofWorkload.about.uid, 2);
    const byReason = own.toSorted((a, b) => a.reason < b.reason ? -1 : 1);
    assert.deepEqual(byReason, [failed, ofWorkload]);
    assert.deepEqual(await harness.seen(ofPolicy.about.uid, 1), [ofPolicy]);
  });

  contract("emit() goes on after an event that the server refused", async (harness) => {
    const lost = skipped(workload("no-such-namespace"));
    const event = skipped(policy(harness.namespace));
    harness.subject.emit(lost);
    harness.subject.emit(event);
    assert.deepEqual(await harness.seen(event.about.uid, 1), [event]);
  });
}
