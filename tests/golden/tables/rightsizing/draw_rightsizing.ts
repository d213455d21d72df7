/**
 * Draws the inputs of rightsizing's decision table.
 *
 * @module
 */
import { type Draw, drawCases, drawWith } from "../draw.ts";
import type { RawContainer, RawResources } from "../raw_pod.ts";
import { BOUND_CASES } from "./bound_cases.ts";
import { RIGHTSIZING_CASES } from "./rightsizing_cases.ts";
import type { RightsizingInput } from "./rightsizing_input.ts";

const SEED = 3;

const BOUND_SEED = 7;

/** Inputs in which two cases apply. */
const MIXED = 10;

/** Each case several times, then two at once; always the same inputs. */
export function drawRightsizing(): readonly RightsizingInput[] {
  const draw = drawWith(SEED);
  const another = (input: RightsizingInput): RightsizingInput =>
    draw.oneOf(RIGHTSIZING_CASES)[0](input, draw);
  return [
    ...drawCases(RIGHTSIZING_CASES, { seed: SEED, usual: usualRightsizing }),
    ...Array.from({ length: MIXED }, () => another(another(usualRightsizing(draw)))),
    ...drawCases(BOUND_CASES, { seed: BOUND_SEED, usual: usualRightsizing }),
  ].map(withoutIdleLimits);
}

/** Recommended limits are left out where the policy does not update limits. */
export function withoutIdleLimits(input: RightsizingInput): RightsizingInput {
  if (input.updateStrategy?.["updateRequestsOnly"] === false) return input;
  const recommended = Object.entries(input.recommended).map(([name, { requests = {} }]) =>
    [name, { requests }] as const
  );
  return { ...input, recommended: Object.fromEntries(recommended) };
}

/** A Deployment of one or two containers, and requests between half and double of what it has. */
export function usualRightsizing(draw: Draw): RightsizingInput {
  const names = draw.chance(1 / 9) ? ["app", "log"] : ["app"];
  const containers = names.map((name) => container(draw, name));
  const recommended = containers.map(({ name }) => [name, recommendation(draw)] as const);
  return {
    containers,
    recommended: Object.fromEntries(recommended),
  };
}

function container(draw: Draw, name: string): RawContainer {
  const [cpu, memory] = [20 * draw.whole(3, 10), 32 * draw.whole(2, 5)];
  const requests = { cpu: `${cpu}m`, memory: `${memory}Mi` };
  const limits = { cpu: `${2 * cpu}m`, memory: `${2 * memory}Mi` };
  const resources = draw.oneOf<RawResources>([
    { requests, limits },
    { requests, limits },
    { requests, limits: { memory: limits.memory } },
    { requests },
  ]);
  return { name, resources };
}

function recommendation(draw: Draw): RawResources {
  const [cpu, memory] = [10 * draw.whole(6, 30), 16 * draw.whole(3, 12)];
  return {
    requests: { cpu: `${cpu}m`, memory: `${memory}Mi` },
    limits: { cpu: `${draw.oneOf([1, 2]) * cpu}m`, memory: `${draw.oneOf([1, 2]) * memory}Mi` },
  };
}
