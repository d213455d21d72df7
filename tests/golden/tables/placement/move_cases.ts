/**
 * What can speak against a move, or decide which it is: the cases of the table of moves.
 *
 * @module
 */
import type { Draw, DrawnCase } from "../decision_table.ts";
import type { MoveInput } from "./move_table.ts";

/** Changes an input so that the case applies. */
export type MoveCase = (input: MoveInput, draw: Draw) => MoveInput;

/** Some pods, and mostly the first one, with one more trait. */
function withValue(...values: readonly string[]): MoveCase {
  return (input, draw) => ({
    ...input,
    pods: input.pods.map((pod, index) =>
      index === 0 || draw.chance(1 / 3) ? `${pod} ${draw.oneOf(values)}` : pod
    ),
  });
}

function annotated(...choices: readonly MoveInput["annotations"][]): MoveCase {
  return (input, draw) => ({
    ...input,
    annotations: { ...input.annotations, ...draw.oneOf(choices) },
  });
}

/** All pods on one class. */
const unbalanced: MoveCase = (input, draw) => {
  const all = draw.oneOf(["spot", "on-demand"]);
  return { ...input, pods: input.pods.map(() => all) };
};

const notWhole: MoveCase = (input, draw) => ({
  ...input,
  ...draw.oneOf<Partial<MoveInput>>([
    { replicas: input.pods.length + 1 },
    { status: { readyReplicas: 0 } },
    { status: { updatedReplicas: 1 } },
    { status: { observedGeneration: 2 } },
  ]),
});

/** Each case, and how often it is drawn. */
export const MOVE_CASES: readonly DrawnCase<MoveInput>[] = [
  [(input) => input, 14],
  [unbalanced, 12],
  [annotated({ "spot-percentage": "0" }, { "spot-percentage": "100" }), 6],
  [(input) => ({ ...input, kind: "DaemonSet" }), 3],
  [(input, draw) => ({ ...input, namespace: draw.oneOf(["kube-system", "mbcas-system"]) }), 3],
  [(input, draw) => ({
    ...input,
    selectsTeam: true,
    ...(draw.chance(1 / 5) ? { namespaceLabels: { team: "shop" } } : {}),
  }), 6],
  [(input) => ({ ...input, namespaceLabels: { "spotalis.io/enabled": "false" } }), 3],
  [annotated({ enabled: "false" }), 3],
  [(input) => ({ ...input, annotations: {} }), 3],
  [
    annotated(
      { "spot-percentage": "101" },
      { "min-on-demand": "-1" },
      { "disruption-schedule": "0 2 * * *" },
      { enabled: "maybe" },
    ),
    4,
  ],
  [notWhole, 5],
  [(input, draw) => annotated({ paused: "true" })(unbalanced(input, draw), draw), 4],
  [(input, draw) => ({ ...unbalanced(input, draw), shortageEndsInS: draw.oneOf([-5, 60, 60]) }), 9],
  [
    (input, draw) =>
      annotated(
        { "disruption-schedule": "0 2 * * *", "disruption-duration": "1h" },
        { "disruption-schedule": "0 23 * * *", "disruption-duration": "2h" },
        {
          "disruption-schedule": "CRON_TZ=Europe/Berlin 30 1 * * 1-5",
          "disruption-duration": "90m",
        },
      )(unbalanced(input, draw), draw),
    7,
  ],
  [(input, draw) => ({
    ...unbalanced(input, draw),
    lastMoveSecondsAgo: draw.oneOf([5, 15, 30]),
    ...(draw.chance(1 / 2) ? { vainMoves: draw.oneOf([0, 1, 3]) } : {}),
  }), 8],
  [(input, draw) => ({ ...unbalanced(input, draw), evictionInMs: 700 }), 5],
  [(input, draw) => ({ ...unbalanced(input, draw), disruptionsAllowed: draw.oneOf([0, 0, 1]) }), 7],
  [(input, draw) => {
    const { pods, ...all } = unbalanced(input, draw);
    return { ...all, pods: pods.map((pod) => draw.chance(4 / 5) ? `${pod} protected` : pod) };
  }, 8],
  [withValue("cordoned"), 5],
  [withValue("drained"), 6],
  [withValue("interrupted"), 4],
  [withValue("old"), 5],
  [withValue("unready", "pending"), 4],
  [(input, draw) => ({
    ...unbalanced(input, draw),
    lastMoveSecondsAgo: draw.oneOf([9, 10, 10, 11]),
  }), 12],
  [(input, draw) => ({
    ...unbalanced(input, draw),
    annotations: { "spot-percentage": "100" },
    pods: input.pods.map(() => "on-demand"),
    shortageEndsInS: draw.oneOf([-1, 0, 0, 1]),
  }), 8],
];
