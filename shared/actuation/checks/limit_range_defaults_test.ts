import assert from "node:assert/strict";
import {
  cpuRanges,
  enforcedContainer,
  enforcedPod,
  enforcementInput,
} from "../../../tests/fixtures/enforcement_input.ts";
import type { Pod, PodContainer } from "../../api/pod.ts";
import { MARKET_CHAIN, RESTORE_CHAIN } from "../chains.ts";
import { decide, decideManually } from "../decide.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const BARE: PodContainer = { name: "side", sidecar: false, ready: true, restartsOnCPU: false };
const MEMORY = { requestMemory: 1, limitMemory: 1 };

function inputOf(change: Partial<Pod>, defaults?: readonly string[]) {
  const limitRange = { ...cpuRanges({}), ...(defaults === undefined ? {} : { defaults }) };
  return enforcementInput({ pod: enforcedPod(change), limitRange });
}

test("wouldWriteDefaults() holds a raise that would put CPU defaults into a sibling or init container", () => {
  const cpu = ["limits.cpu", "requests.cpu"];
  const sibling = { containers: [enforcedContainer(), BARE] };
  const init = { initContainers: [{ ...BARE, name: "prepare", requestCPU: 10 }] };
  const cases = [
    [sibling, "container side (limits.cpu, requests.cpu)"],
    [init, "init container prepare (limits.cpu)"],
    [{ ...sibling, ...init }, /side \(.*\), init container prepare \(/],
  ] as const;
  for (const [change, who] of cases) {
    const { changes, reason, message = "", by } = decide(MARKET_CHAIN, inputOf(change, cpu));
    assert.deepEqual([changes, reason, by], [[], "LimitRange", "WouldWriteDefaults"]);
    assert.ok(typeof who === "string" ? message.includes(` into ${who}, and`) : who.test(message));
    // Without defaults nothing is written, so nothing holds.
    assert.equal(decide(MARKET_CHAIN, inputOf(change)).changes[0]?.limitCPU, 400);
  }
});

test("wouldWriteDefaults() lets pods pass that lack nothing, and holds for memory and other resources", () => {
  const full = enforcedContainer({ ...MEMORY, otherResources: ["limits.ephemeral-storage"] });
  const known = ["limits.cpu", "requests.cpu", "limits.memory", "requests.memory"];
  const passes = (container: PodContainer, defaults: readonly string[]): boolean =>
    decide(MARKET_CHAIN, inputOf({ containers: [container] }, defaults)).changes.length === 1;
  assert.ok(passes(full, [...known, "limits.ephemeral-storage"]));
  assert.ok(!passes(full, ["requests.ephemeral-storage"]));
  assert.ok(!passes({ ...full, otherResources: [] }, ["limits.ephemeral-storage"]));
  // The container whose limit is raised gets the defaults as well as the others.
  assert.ok(passes(enforcedContainer(), ["limits.cpu", "requests.cpu"]));
  for (const name of ["limits.memory", "requests.memory"]) {
    assert.ok(!passes(enforcedContainer(), [name]), name);
  }
});

test("wouldWriteDefaults() holds a restore as RestoreBlocked, and a limit that is set by hand", () => {
  const input = inputOf({ containers: [enforcedContainer(), BARE] }, ["limits.cpu"]);
  const { changes, reason } = decide(RESTORE_CHAIN, input);
  assert.deepEqual([changes, reason], [[], "RestoreBlocked"]);
  const byHand = decideManually(input, new Map([["app", 400]]));
  assert.deepEqual([byHand.changes, byHand.reason], [[], "LimitRange"]);
  const { limitRange: _none, ...free } = input;
  assert.equal(decide(RESTORE_CHAIN, free).changes[0]?.limitCPU, 400);
});

test("wouldWriteDefaults() does not speak of pods that have their own limits back", () => {
  const app = enforcedContainer({ limitCPU: 400, appliedLimitCPU: 400 });
  const input = inputOf({ containers: [app, BARE] }, ["limits.cpu"]);
  assert.equal(decide(RESTORE_CHAIN, input).reason, "Applied");
});
