/**
 * The content of `placement`, which its JSON and YAML have, and its texts show.
 *
 * @module
 */
import { workloadKey } from "../../../shared/view/figures.ts";
import { type ShownWorkload, shownWorkloads } from "../../../shared/view/placed_workloads.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { PlacedKind } from "../../../shared/placement/eligibility.ts";
import { PLACEMENT_SETTINGS } from "../../../shared/placement/settings.ts";
import { explainApiError } from "../api_problem.ts";
import { type Cluster, CommandProblem, type NamespaceChoice } from "../ports.ts";
import { nearestHint, placeOf } from "../formats.ts";
import { unlessHidden } from "../kube/cluster_reader.ts";
import { controllerSettings } from "../market_settings.ts";

/** The whole content. */
export interface PlacementView {
  /** By namespace, kind and name. */
  readonly workloads: readonly ShownWorkload[];
  /** In sentences. */
  readonly notes: readonly string[];
}

/** A workload that the user names, with a kind if the argument has one. */
export interface PlacedArgument {
  readonly kind?: PlacedKind;
  readonly name: string;
}

/** The workloads that the user asks for. */
export interface PlacedChoice {
  /** Absent: all workloads. */
  readonly workload?: PlacedArgument;
  readonly namespace: NamespaceChoice;
  /** Labels of the workloads; absent: all. */
  readonly selector?: string;
}

/** Reads the published statuses. Throws a {@linkcode CommandProblem} where they can't be read. */
export async function readPlacement(
  { placement, reader, recommendations }: Pick<Cluster, "placement" | "reader" | "recommendations">,
  { workload, namespace, selector }: PlacedChoice,
): Promise<PlacementView> {
  const within = namespace.all ? undefined : namespace.name;
  const [published, labelled, isAlive, isOff] = await Promise.all([
    unlessForbidden(placement.statuses(within)),
    selector === undefined ? undefined : recommendations.templates(within, selector),
    unlessHidden(reader.controllerIsAlive()),
    unlessHidden(placementIsOff({ placement, reader })),
  ]);
  const all = shownWorkloads(published);
  const keys = labelled && new Set(labelled.map((one) => workloadKey({ ...one, ...one.metadata })));
  const chosen = workload === undefined
    ? all.filter((one) => keys === undefined || keys.has(workloadKey(one)))
    : all.filter(({ kind, name }) => name === workload.name && (workload.kind ?? kind) === kind);
  if (workload !== undefined && chosen.length === 0) {
    throw new CommandProblem(notPlacedText(workload, { all, namespace }));
  }
  return { workloads: chosen, notes: notesOf({ all, chosen, isAlive, isOff, namespace }) };
}

/** Whether flags, variables or settings file switch placement off; undefined without a controller. */
async function placementIsOff(
  { placement, reader }: Pick<Cluster, "placement" | "reader">,
): Promise<boolean | undefined> {
  const [command, text = ""] = await Promise.all([
    placement.controllerCommand(),
    reader.settingsText(),
  ]);
  if (command === undefined) return undefined;
  const schema = PLACEMENT_SETTINGS.pick({ placement: true });
  return !controllerSettings(schema, command, { text }).values.placement;
}

async function unlessForbidden<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    throw new CommandProblem(explainApiError("read what the controller publishes", error));
  }
}

function notesOf(
  { all, chosen, isAlive, isOff, namespace }: {
    readonly all: readonly ShownWorkload[];
    readonly chosen: readonly ShownWorkload[];
    readonly isAlive: boolean | undefined;
    readonly isOff: boolean | undefined;
    readonly namespace: NamespaceChoice;
  },
): readonly string[] {
  const where = namespace.all ? "any namespace" : `namespace ${namespace.name}`;
  return [
    ...(all.length > 0 ? [] : [
      `No workload of ${where} asks for placement, or placement is off (placement.enabled); the ` +
      "component placement of the manifests turns it on",
    ]),
    ...(chosen.some(({ readOnly }) => readOnly)
      ? ["Placement only reads (placement.readOnlyMode): nothing of this is done"]
      : []),
    ...(isOff === true && chosen.length > 0
      ? ["Placement is off (placement.enabled): this is the last published state"]
      : []),
    ...(isAlive === false && chosen.length > 0
      ? ["No controller renews its lease: nothing is placed or moved until one runs"]
      : []),
  ];
}

function notPlacedText(
  { kind, name }: PlacedArgument,
  { all, namespace }: {
    readonly all: readonly ShownWorkload[];
    readonly namespace: NamespaceChoice;
  },
): string {
  const where = placeOf(namespace);
  if (all.length === 0) {
    return `Cannot show placement of ${name}: no workload of ${where} asks for it ` +
      "(spotalis.io/enabled), or placement is off (placement.enabled)";
  }
  return `Cannot show placement of ${name}: the controller has published no such ${
    kind ?? "Deployment or StatefulSet"
  } in ${where}; ${nearestHint(name, all)}`;
}
