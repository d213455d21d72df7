/**
 * `explain`: reads the objects and views of one pod, and explains its limit.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import { type CommandContext, CommandProblem, type PodName } from "../ports.ts";
import { explanationOf, type ScopeInput } from "../../../shared/view/explanation.ts";
import { INTERRUPTED } from "../global_flags.ts";
import { marketSettings, readSettings } from "../market_settings.ts";
import { readNodes } from "../node_readings.ts";
import { existingPod } from "../poll_pod.ts";
import { structuredOutput } from "../output.ts";
import { explainText } from "./explain_text.ts";
import { blockerOf } from "../../../shared/view/blocker.ts";

/** The pod and the container in question. */
export interface ExplainRequest {
  readonly pod: PodName;
  /** All containers when absent. */
  readonly container?: string;
}

/** Explains the pod. Resolves with the exit code. */
export async function explainCommand(
  { pod: podName, container }: ExplainRequest,
  { cluster, world, output, style }: CommandContext,
): Promise<number> {
  const { reader } = cluster;
  const { namespace, name } = podName;
  const pod = await existingPod(reader, { pod: podName, action: "explain" });
  if (container !== undefined && !pod.containers.some((one) => one.name === container)) {
    const names = pod.containers.map((one) => one.name).join(", ");
    throw new CommandProblem(
      `Cannot explain container ${container}: pod ${name} has only ${names}`,
    );
  }
  const [namespaceObject, settings, scopeInput, readings] = await Promise.all([
    reader.namespace(namespace),
    readSettings(reader),
    reader.scopeInput(pod),
    readNodes(cluster, pod.nodeName === "" ? { namespace } : { namespace, node: pod.nodeName }),
  ]);
  if (world.signal.aborted) return INTERRUPTED;
  const allocation = readings.allocations.find(({ spec }) => spec.podUID === pod.metadata.uid);
  const explanation = explanationOf({
    pod,
    namespace: namespaceObject,
    settings: marketSettings(settings.text),
    scopeInput,
    allocation,
    nodeView: readings.views.find(({ node }) => node === pod.nodeName),
    problems: [
      ...settings.problems,
      // Without an allocation, which has the controller's decision, the command decides itself.
      ...(allocation === undefined ? unseenOf(pod, scopeInput) : []),
      ...readings.problems,
    ],
    container,
    nowMs: world.clock.wall(),
  });

  const data = { ...explanation, blocked: blockerOf(explanation) ?? null };
  world.out(structuredOutput(data, output) ?? explainText(explanation, style));
  return 0;
}

function unseenOf(pod: Pod, { verticalAutoscalers, autoscalers }: ScopeInput): readonly string[] {
  return [
    ...(verticalAutoscalers === undefined
      ? ["VerticalPodAutoscalers can't be read: one may set the pod's resources (VPAConflict)"]
      : []),
    ...(movesRequest(pod) && autoscalers === undefined
      ? [
        "HorizontalPodAutoscalers can't be read: one may divide by the pod's request (HPAConflict)",
      ]
      : []),
  ];
}
