/**
 * The contract of `EventSink` and of `RightsizingEvents`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { EventSink, EventSubject, MarketEvent } from "../../shared/api/ports.ts";
import type { RightsizingEvent, RightsizingEvents } from "../../controller/rightsizing/ports.ts";
import { OPTIPOD_GROUP_VERSION } from "../../shared/api/optimization_policy.ts";
import {
  type ContractHarness,
  contractTests,
  type OpenHarness,
} from "./support/contract_harness.ts";

/** A server that keeps events. */
export interface EventSinkHarness extends ContractHarness {
  readonly ofPods: EventSink;
  readonly ofWorkloads: RightsizingEvents;
  /** A namespace of the server. */
  readonly namespace: string;
  /** Resolves once `count` events of the object are there, see {@linkcode eventText}, in no particular order. */
  seen(uid: string, count: number): Promise<readonly string[]>;
}

/** An event as text: its object, type, reason and message. */
export function eventText(
  about: Pick<EventSubject, "kind" | "namespace" | "name">,
  { type, reason, message }: Pick<MarketEvent | RightsizingEvent, "type" | "reason" | "message">,
): string {
  return `${about.kind} ${about.namespace}/${about.name}: ${type} ${reason}: ${message}`;
}

const POD = "5f2bd5b1-7a52-4a0a-9f5c-1f1d40c2f0aa";
const WORKLOAD = "0b9a2d6e-52f1-4a5e-8c63-2d9f7b1e4a10";
const POLICY = "7c1f3e58-9d44-4f0b-b0f5-6a2e8c9d1b72";

/** Emits two events of a pod and of a workload each, and one of a policy. */
function emitAll(
  { ofPods, ofWorkloads }: Pick<EventSinkHarness, "ofPods" | "ofWorkloads">,
  namespace: string,
): void {
  const applied: MarketEvent = {
    about: { apiVersion: "v1", kind: "Pod", namespace, name: "web-0", uid: POD },
    type: "Normal",
    ...{ reason: "CPULimitApplied", message: "app: 200m to 400m (Throttled)" },
  };
  ofPods.emit(applied);
  ofPods.emit({ ...applied, type: "Warning", reason: "CPULimitFailed", message: "no room" });
  const about = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    namespace,
    name: "web",
    uid: WORKLOAD,
  };
  const skipped: RightsizingEvent = {
    about,
    ...{ type: "Normal", reason: "WorkloadSkipped", message: "Cooldown: 60 s" },
  };
  ofWorkloads.emit(skipped);
  ofWorkloads.emit({ ...skipped, type: "Warning", reason: "UpdateFailed", message: "no room" });
  const policy = { apiVersion: OPTIPOD_GROUP_VERSION, kind: "OptimizationPolicy", uid: POLICY };
  ofWorkloads.emit({ ...skipped, about: { ...about, ...policy } });
}

/** Registers the suite. */
export function eventSinkContract(open: OpenHarness<EventSinkHarness>): void {
  const contract = contractTests(open);
  contract(
    "emit() reports on each object apart, also after events that the server refused",
    async (harness) => {
      const { namespace, seen } = harness;
      emitAll(harness, "no-such-namespace");
      emitAll(harness, namespace);
      const own = async (uid: string, count: number) =>
        (await seen(uid, count)).filter((text) => !text.includes("no-such-namespace")).toSorted();
      assert.deepEqual(await own(POD, 2), [
        `Pod ${namespace}/web-0: Normal CPULimitApplied: app: 200m to 400m (Throttled)`,
        `Pod ${namespace}/web-0: Warning CPULimitFailed: no room`,
      ]);
      assert.deepEqual(await own(WORKLOAD, 2), [
        `Deployment ${namespace}/web: Normal WorkloadSkipped: Cooldown: 60 s`,
        `Deployment ${namespace}/web: Warning UpdateFailed: no room`,
      ]);
      assert.deepEqual(await own(POLICY, 1), [
        `OptimizationPolicy ${namespace}/web: Normal WorkloadSkipped: Cooldown: 60 s`,
      ]);
    },
  );
}
