import assert from "node:assert/strict";
import { MANUAL_CHAIN, MARKET_CHAIN, RESTORE_CHAIN } from "./chains.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const namesOf = (chain: readonly { readonly name: string }[]): readonly string[] =>
  chain.map(({ name }) => name);

test("MARKET_CHAIN keeps its order", () => {
  assert.deepEqual(namesOf(MARKET_CHAIN), [
    "IdentityDiffers",
    "OutOfScope",
    "AgentIsSilent",
    "BoundsAreStale",
    "OutsideBounds",
    "NotRunning",
    "WindowsPod",
    "StaticPod",
    "DeviceClaims",
    "KubeletTooOld",
    "RestartsContainer",
    "AlreadyThere",
    "CopiesOutOfSync",
    "Oscillates",
    "StepTooLarge",
    "WouldWriteDefaults",
    "OutsideLimitRange",
    "OverQuota",
    "QoSWouldChange",
    "ResizeInProgress",
    "BackingOff",
    "ResizedJustNow",
    "RateLimited",
  ]);
});

test("RESTORE_CHAIN is the market's without what holds or clamps the user's own value", () => {
  assert.deepEqual(namesOf(RESTORE_CHAIN), [
    "IdentityDiffers",
    "NotRunning",
    "AlreadyThere",
    "RestartsContainer",
    "WouldWriteDefaults",
    "ResizeInProgress",
    "BackingOff",
    "RateLimited",
  ]);
});

test("MANUAL_CHAIN is the market's without what a person stands for", () => {
  assert.deepEqual(namesOf(MANUAL_CHAIN), [
    "NotRunning",
    "WindowsPod",
    "StaticPod",
    "DeviceClaims",
    "KubeletTooOld",
    "RestartsContainer",
    "AlreadyThere",
    "WouldWriteDefaults",
    "OutsideLimitRange",
    "OverQuota",
    "QoSWouldChange",
    "ResizeInProgress",
  ]);
});

test("RESTORE_CHAIN and MANUAL_CHAIN ask in the market's order, but for who is there already", () => {
  const all = namesOf(MARKET_CHAIN);
  const inOrder = (names: readonly string[]) => all.filter((name) => names.includes(name));
  const manual = namesOf(MANUAL_CHAIN);
  assert.deepEqual(manual, inOrder(manual));
  const rest = namesOf(RESTORE_CHAIN).filter((name) => name !== "AlreadyThere");
  assert.deepEqual(rest, inOrder(rest));
});
