import assert from "node:assert/strict";
import {
  enforcedContainer,
  enforcedPod,
} from "../../../tests/fixtures/market/enforcement_input.ts";
import type { PodContainer, Resources } from "../../api/pod.ts";
import { marketSubject } from "../inputs/subject.ts";
import { disruptions, disruptionVerdict } from "./restart_policy.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const app = enforcedContainer({ requestMemory: 64, limitMemory: 128 });

function reasons(
  fields: Partial<PodContainer>,
  wanted: Resources,
  lowersMemoryLimits = true,
): readonly string[] {
  const pod = enforcedPod({ containers: [{ ...app, ...fields }] });
  const asked = { subjects: [marketSubject(pod)], lowersMemoryLimits };
  return disruptions(new Map([["app", wanted]]), asked)
    .map(({ resource, reason }) => `${resource} ${reason}`);
}

test("disruptions() are the changes that restart a container, or that the server refuses", () => {
  const cases: readonly (readonly [
    fields: Partial<PodContainer>,
    wanted: Resources,
    found: readonly string[],
  ])[] = [
    [{}, { limitCPU: 400, limitMemory: 256 }, []],
    [{ restartsOnCPU: true }, { limitCPU: 400 }, ["cpu RestartPolicy"]],
    [{ restartsOnCPU: true }, { requestCPU: 150 }, ["cpu RestartPolicy"]],
    // A value that is there restarts nothing.
    [{ restartsOnCPU: true }, { limitCPU: 200, limitMemory: 256 }, []],
    [{ restartsOnMemory: true }, { limitCPU: 400, requestMemory: 32 }, ["memory RestartPolicy"]],
  ];
  for (const [fields, wanted, found] of cases) assert.deepEqual(reasons(fields, wanted), found);
  assert.deepEqual(reasons({}, { limitMemory: 96 }, false), ["memory MemoryLimitLocked"]);
  assert.deepEqual(reasons({}, { limitMemory: 256, requestMemory: 32 }, false), []);
});

test("disruptionVerdict() leaves out the resource of the container, and nothing else", () => {
  const pod = enforcedPod({
    containers: [{ ...app, restartsOnCPU: true }, enforcedContainer({ name: "log" })],
  });
  const wanted = new Map([
    ["app", { limitCPU: 400, limitMemory: 256 }],
    ["log", { limitCPU: 300 }],
  ]);
  const verdict = disruptionVerdict(wanted, { subjects: [marketSubject(pod)] });
  assert.ok(verdict?.verdict === "clamp");
  assert.equal(verdict.reason, "RestartPolicy");
  assert.deepEqual(
    verdict.wanted,
    new Map([["app", { limitMemory: 256 }], ["log", { limitCPU: 300 }]]),
  );
});
