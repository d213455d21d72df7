import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { wantedOf } from "../../shared/resize/resources.ts";
import { inPlacePlan } from "../../shared/rightsizing/apply/in_place_plan.ts";
import { notedHands } from "../../tests/fixtures/noted_hands.ts";
import { rightsizingFacts, templateContainer } from "../../tests/fixtures/rightsizing_facts.ts";
import { applyInPlace, type InPlaceOutcome } from "./apply_in_place.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const facts = rightsizingFacts();
const plan = inPlacePlan(
  facts,
  wantedOf([{ container: "app", resource: "cpu", pair: { request: 150 } }]),
);

async function resized(
  refusals: Readonly<Record<string, ApiError>> = {},
  limitCPU = 200,
): Promise<InPlaceOutcome & { readonly asked: readonly string[] }> {
  const hands = notedHands();
  for (const [what, refusal] of Object.entries(refusals)) hands.refusals.set(what, refusal);
  const pods = new Map(
    facts.pods.map((pod) => [
      pod.metadata.uid,
      { ...pod, containers: [templateContainer({ limitCPU })] },
    ]),
  );
  return { ...await applyInPlace(plan, pods, hands), asked: hands.asked };
}

const patch = (name: string): string => `resize ${name} app requests.cpu=150m`;

test("applyInPlace() resizes one pod after the other, and no limit that is not in the way", async () => {
  const { asked, resized: count, failures } = await resized();
  assert.deepEqual(asked, [patch("web-1"), patch("web-2")]);
  assert.deepEqual([count, failures], [2, []]);
});

test("applyInPlace() raises a limit that is below the new request first, under the market's name", async () => {
  const { asked } = await resized({}, 120);
  assert.deepEqual(asked.slice(0, 2), ["market web-1 app limits.cpu=150m", patch("web-1")]);
});

test("applyInPlace() goes on with the other pods after a refusal, and takes one that is gone for none", async () => {
  const refused = await resized({ "resize web-1": new ApiError(422, "Invalid", "no") });
  assert.equal(refused.resized, 1);
  assert.deepEqual(refused.failures.map(({ pod }) => pod), ["web-1"]);
  const gone = await resized({ "resize web-1": new ApiError(404, "NotFound", "gone") });
  assert.deepEqual([gone.resized, gone.failures], [1, []]);
});

test("applyInPlace() ends with a missing permission: the others would miss it as well", async () => {
  const message =
    'pods "web-1" is forbidden: User "u" cannot patch resource "pods/resize" in API ' +
    'group "" in the namespace "shop"';
  const { asked, failures } = await resized({
    "resize web-1": new ApiError(403, "Forbidden", message),
  });
  assert.deepEqual(asked, [patch("web-1")]);
  assert.match(failures[0]?.failure.permission ?? "", /^patch pods\/resize .*shop$/);
});
