import { withFields, type ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import { enforcedContainer, enforcedPod } from "../../../tests/fixtures/market/enforcement_input.ts";
import type { Resources } from "../../api/pod.ts";
import { marketSubject } from "../inputs/subject.ts";
import { disruptions, disruptionVerdict } from "./restart_policy.ts";
import assert from "node:assert/strict";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const app = enforcedContainer({ requests: { memory: 64 }, limits: { memory: 128 } });

function reasons(
  fields: ContainerFields,
  wanted: Resources,
  lowersMemoryLimits = true,
): readonly string[] {
  const pod = enforcedPod({
    containers: [withFields(app, fields)],
  });
  const asked = { subjects: [marketSubject(pod)], lowersMemoryLimits };
  return disruptions(new Map([["app", wanted]]), asked)
    .map(({ resource, reason }) => `${resource} ${reason}`);
}

test("disruptions() are the changes that restart a container, or that the server refuses", () => {
  const cases: readonly (readonly [
    fields: ContainerFields,
    wanted: Resources,
    found: readonly string[],
  ])[] = [
    [{}, { requests: {}, limits: { cpu: 400, memory: 256 } }, []],
    [{ restartsOnCPU: true }, { requests: {}, limits: { cpu: 400 } }, ["cpu RestartPolicy"]],
    [{ restartsOnCPU: true }, { requests: { cpu: 150 }, limits: {} }, ["cpu RestartPolicy"]],
    // A value that is there restarts nothing.
    [{ restartsOnCPU: true }, { requests: {}, limits: { cpu: 200, memory: 256 } }, []],
    [{ restartsOnMemory: true }, { requests: { memory: 32 }, limits: { cpu: 400 } }, [
      "memory RestartPolicy",
    ]],
  ];
  for (const [fields, wanted, found] of cases) assert.deepEqual(reasons(fields, wanted), found);
  assert.deepEqual(reasons({}, { requests: {}, limits: { memory: 96 } }, false), [
    "memory MemoryLimitLocked",
  ]);
  assert.deepEqual(reasons({}, { requests: { memory: 32 }, limits: { memory: 256 } }, false), []);
});

test("disruptionVerdict() leaves out the resource of the container, and nothing else", () => {
  const pod = enforcedPod({
    containers: [{ ...app, restartsOnCPU: true }, enforcedContainer({ name: "log" })],
  });
  const wanted = new Map([
    ["app", { requests: {}, limits: { cpu: 400, memory: 256 } }],
    ["log", { requests: {}, limits: { cpu: 300 } }],
  ]);
  const verdict = disruptionVerdict(wanted, { subjects: [marketSubject(pod)] });
  assert.ok(verdict?.verdict === "clamp");
  assert.equal(verdict.reason, "RestartPolicy");
  assert.deepEqual(
    verdict.wanted,
    new Map([["app", { requests: {}, limits: { memory: 256 } }], ["log", {
      requests: {},
      limits: { cpu: 300 },
    }]]),
  );
});
