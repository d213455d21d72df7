import assert from "node:assert/strict";
import {
  sampleAllocation,
  sampleContainer,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import {
  sampleContainerView,
  sampleNodeView,
  samplePodView,
} from "../../../tests/fixtures/cli/node_views.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { Desired, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { remedyFor } from "../../../shared/api/reasons/reasons.ts";
import type { ContainerView } from "../../../shared/view/node_view.ts";
import { DEFAULT_MARKET_SETTINGS } from "../market_settings.ts";
import { explainText } from "./explain_text.ts";
import { type Explanation, explanationOf } from "./explanation.ts";
import { blockerOf, unenforcedText } from "./blocker.ts";

const LIMIT = 200;
/** What the kubelet reports of a limit that it has not taken. */
const ELSEWHERE = 500;
const REMEDY = remedyFor("QuotaOff");

type Views = Readonly<Record<string, Partial<ContainerView>>>;

/** A pod with these containers, each with a limit of 200 m, on a congested node. */
function explained(
  views: Views | undefined,
  { applied = LIMIT, market = {} }: {
    readonly applied?: number;
    readonly market?: Partial<NonNullable<Desired["market"]>>;
  } = {},
): Explanation {
  const names = Object.keys(views ?? { app: {} });
  const seen = Object.entries(views ?? {})
    .map(([name, change]) => sampleContainerView({ name, ...change }));
  const [container] = seen;
  const view = container === undefined
    ? []
    : [{ ...samplePodView("web", { uid: "", container }), containers: seen }];
  const containers = names.map((name) =>
    sampleContainer({
      name,
      containerID: `containerd://${name}`,
      applied: { limits: { cpu: applied } },
    })
  );
  const pod: Pod = { ...samplePod("web", { containers }), phase: "Running" };
  const { spec, ...rest } = sampleAllocation(pod);
  const allocation: PodAllocation = {
    ...rest,
    spec: {
      ...spec,
      desiredCPULimit: "200m",
      market: {
        mode: "uncongested",
        demand: 100,
        need: 100,
        credit: 1,
        reason: "DemandFell",
        observedBounds: 7,
        ...market,
      },
    },
    status: {
      bounds: {
        revision: 7,
        reason: "",
        containers: names.map((name) => (
          { name, containerID: `containerd://${name}`, floor: 100, ceiling: 800, weight: 100 }
        )),
      },
      phase: "Applied",
      reason: "Applied",
    },
  };
  return explanationOf({
    pod,
    namespace: undefined,
    settings: DEFAULT_MARKET_SETTINGS,
    allocation,
    nodeView: views === undefined ? undefined : sampleNodeView(view),
    problems: [],
    nowMs: Date.UTC(2026, 0, 1),
  });
}

/** A limit that stays, since no quota shows that it is enforced; demand and usage are far above it. */
const OFF: Partial<ContainerView> = {
  quotaOff: true,
  usage: 900,
  demand: 900,
  need: LIMIT,
  ceiling: LIMIT,
  target: LIMIT,
};
const IDLE: Partial<ContainerView> = { demand: 90, need: 100, share: 100, target: LIMIT };

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure(
  "blockerOf() finds no blocker for a container with a limit that is not enforced",
  () => {
    const { quotaOff: _off, ...on } = OFF;
    assert.equal(blockerOf(explained({ app: on }))?.by, "CeilingBinds");
    assert.equal(blockerOf(explained({ app: OFF })), undefined);
    const short = { ...OFF, ceiling: 800, need: 480 };
    assert.equal(
      blockerOf(explained({ app: { ...short, quotaOff: undefined } }))?.by,
      "NodeIsShort",
    );
    assert.equal(blockerOf(explained({ app: short })), undefined);
    const behind = { applied: ELSEWHERE };
    assert.equal(blockerOf(explained({ app: IDLE }, behind))?.by, "KubeletIsBehind");
    assert.equal(blockerOf(explained({ app: OFF }, behind)), undefined);
    // A container without an enforced limit does not hide what blocks the other.
    assert.match(blockerOf(explained({ app: OFF, side: on }))?.message ?? "", /ceiling of side, /);
  },
);

pure("unenforcedText() reports limits that are not enforced, with the remedy", () => {
  for (
    const [views, covered, figures] of [
      [{ app: OFF }, true, / app .*: QuotaOff$/],
      [{ app: OFF, side: OFF }, true, / app, side .*: QuotaOff$/],
      [{ app: OFF, side: IDLE }, true, /demands; .* app .*: QuotaOff$/],
      [{ app: OFF, side: { demand: 480 } }, false, /480m, limit 200m .*; .* app .*: QuotaOff$/],
    ] as const
  ) {
    const found = unenforcedText(explained(views));
    assert.deepEqual([found.covered, found.remedy], [covered, REMEDY]);
    assert.match(found.message, figures);
  }
  const { covered, remedy } = unenforcedText(explained({ app: IDLE }));
  assert.deepEqual([covered, remedy], [true, undefined]);
  assert.match(explainText(explained({ app: OFF })), /QuotaOff\nWhat to do: .*cpuCFSQuota: true/);
  assert.doesNotMatch(explainText(explained({ app: IDLE })), /QuotaOff|What to do/);
});

pure("unenforcedText() never says that values written some time ago cover the demand", () => {
  const unread = unenforcedText(explained(undefined));
  assert.deepEqual([unread.covered, unread.remedy], [false, undefined]);
  assert.match(unread.message, /: demand 100m, limit 200m; /);
  const off = explained(undefined, { market: { demand: 480, reason: "QuotaOff" } });
  assert.equal(blockerOf(off), undefined);
  const found = unenforcedText(off);
  assert.deepEqual([found.covered, found.remedy], [false, REMEDY]);
  assert.match(found.message, /: demand 480m, limit 200m, QuotaOff; /);
  const short = explained(undefined, { market: { demand: 480 } });
  assert.equal(blockerOf(short)?.by, "WrittenNeedIsBounded");
});
