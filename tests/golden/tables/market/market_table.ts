/**
 * The decision table of the market's, the restore's and the manual chain.
 *
 * @module
 */
import { type DecisionTable, type Draw, drawCases, drawWith, tableOf } from "../decision_table.ts";
import { CHAIN_CASES } from "./chain_cases.ts";
import { MARKET_CASES } from "./market_cases.ts";
import type { MarketInput } from "./market_input.ts";
import type { RawContainer } from "../raw_pod.ts";
import { ENFORCEMENT_REASONS } from "../../../../shared/api/reasons/enforcement_reasons.ts";
import { MANUAL_CHAIN, MARKET_CHAIN, RESTORE_CHAIN } from "../../../../shared/resize/chain.ts";
import { marketResult } from "./market_row.ts";

const SEED = 2;
const CHAIN_SEED = 6;
/** Inputs in which two cases apply, and inputs of a person. */
const MIXED = 5;

/** Each case several times, then two at once, then those of a person; always the same inputs. */
export function drawMarket(): readonly MarketInput[] {
  const draw = drawWith(SEED);
  const another = (input: MarketInput): MarketInput => draw.oneOf(MARKET_CASES)[0](input, draw);
  return [
    ...drawCases(MARKET_CASES, { seed: SEED, usual: usualMarket }),
    ...Array.from({ length: MIXED }, () => another(another(usualMarket(draw)))),
    ...Array.from({ length: MIXED }, (): MarketInput => ({
      by: "person",
      ...another(usualMarket(draw)),
    })),
    ...drawCases(CHAIN_CASES, { seed: CHAIN_SEED, usual: usualMarket }),
  ];
}

/** A pod that nothing speaks against, and limits between half and four times those it has. */
export function usualMarket(draw: Draw): MarketInput {
  const isGuaranteed = draw.chance(1 / 6);
  const containers = Array.from(
    { length: draw.oneOf([1, 1, 1, 1, 1, 1, 1, 1, 2, 3]) },
    (_, index) => container(draw, { index, isGuaranteed }),
  );
  const sidecars = containers.slice(1).filter(() => draw.chance(1 / 4))
    .map((one): RawContainer => ({ ...one, restartPolicy: "Always" }));
  const names = new Set(sidecars.map(({ name }) => name));
  const limits = containers.flatMap(({ name, resources: { limits: { cpu } = {} } }) =>
    cpu === undefined ? [] : [[name, cpu] as const]
  );
  const wanted = limits.map(([name, cpu]) =>
    [name, `${parseInt(cpu) * draw.oneOf([5, 8, 15, 20, 30, 40]) / 10}m`] as const
  );
  return {
    pod: {
      ...(isGuaranteed
        ? { metadata: { annotations: { "mbcas.io/skip-guaranteed": "false" } } }
        : {}),
      spec: {
        containers: containers.filter(({ name }) => !names.has(name)),
        ...(sidecars.length === 0 ? {} : { initContainers: sidecars }),
      },
    },
    wanted: Object.fromEntries(wanted),
    ...(draw.chance(1 / 4) ? { originalLimits: Object.fromEntries(limits) } : {}),
  };
}

function container(
  draw: Draw,
  { index, isGuaranteed }: { readonly index: number; readonly isGuaranteed: boolean },
): RawContainer {
  const name = ["app", "log", "proxy"][index] ?? "more";
  const request = 20 * draw.whole(1, 20);
  if (isGuaranteed) {
    const list = { cpu: `${request}m`, memory: "64Mi" };
    return { name, resources: { requests: list, limits: list } };
  }
  // A second container sometimes has no limit.
  const limit = index > 0 && draw.chance(1 / 5)
    ? {}
    : { limits: { cpu: `${request * draw.oneOf([1, 2, 2, 4]) + (index === 0 ? 20 : 0)}m` } };
  return { name, resources: { requests: { cpu: `${request}m` }, ...limit } };
}

const IMPOSSIBLE = {
  PodGone: "the controller forgets a pod that is gone before it asks the chain",
};

const SCOPE_FIRST = "the controller turns to the restore chain before this check is asked";

const NEVER_DECIDES = {
  "market/OutOfScope": SCOPE_FIRST,
  "market/AgentIsSilent": SCOPE_FIRST,
  "market/WindowsPod": SCOPE_FIRST,
  "market/StaticPod": SCOPE_FIRST,
  "market/DeviceClaims": SCOPE_FIRST,
  "market/KubeletTooOld": SCOPE_FIRST,
};

/** Draws the inputs and decides each. */
export async function marketTable(): Promise<DecisionTable> {
  const rows = [];
  for (const input of drawMarket()) rows.push({ input, ...await marketResult(input) });
  return tableOf(rows, {
    reasonsOf: (
      { reason, restores },
    ) => [reason ?? "none", ...restores === undefined ? [] : [restores]],
    expected: Object.keys(ENFORCEMENT_REASONS),
    impossible: IMPOSSIBLE,
    checks: {
      expected: [
        ...MARKET_CHAIN.map(({ name }) => `market/${name}`),
        ...RESTORE_CHAIN.map(({ name }) => `restore/${name}`),
        ...MANUAL_CHAIN.map(({ name }) => `manual/${name}`),
      ],
      impossible: NEVER_DECIDES,
    },
  });
}
