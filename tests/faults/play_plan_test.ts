import assert from "node:assert/strict";
import { drawPlan } from "./draw_plan.ts";
import type { FaultPlan } from "./fault.ts";
import { MUTANTS, mutate } from "./mutants.ts";
import { playPlan } from "./play_plan.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] }, fn });
}

const NO_FAULTS: FaultPlan = { seed: 1, idleCPU: "free", faults: [] };

test("playPlan() breaks no promise without faults, and plays the same plan the same way", async () => {
  const first = await playPlan(NO_FAULTS, { record: true });
  assert.deepEqual(first.violations, []);
  assert.deepEqual(await playPlan(NO_FAULTS, { record: true }), first);
});

test("playPlan() breaks no promise under drawn faults", async () => {
  for (const seed of [5, 59, 96, 1034]) {
    const { violations } = await playPlan(drawPlan(seed));
    assert.deepEqual(violations, [], `seed ${seed}`);
  }
});

test("playPlan() breaks no promise when another client overwrites a desired limit", async () => {
  for (const pod of ["shop/web-a", "shop/web-b"]) {
    const fault = { fault: "corrupt", atMs: 50_000, pod, field: "desired" } as const;
    const { violations } = await playPlan({ ...NO_FAULTS, faults: [fault] });
    assert.deepEqual(violations, [], pod);
  }
});

Deno.test("each mutant stands at one place of the sources", async () => {
  for (const mutant of MUTANTS) {
    const source = await Deno.readTextFile(new URL(`../../${mutant.file}`, import.meta.url));
    assert.notEqual(mutate(source, mutant), source, mutant.name);
  }
});

Deno.test("docs/reliability.md says of each mutant what found it", async () => {
  const page = await Deno.readTextFile(
    new URL("../../docs/reliability.md", import.meta.url),
  );
  const rows = [...page.matchAll(/^\| (.+?) +\| (stale|crash|missed|rule) +\|/gm)];
  assert.deepEqual(
    rows.map(([, name, kind]) => `${kind}: ${name}`),
    MUTANTS.map(({ name, kind }) => `${kind}: ${name}`),
  );
});
