/**
 * The chart's values in the objects that make pods.
 *
 * @module
 */
import { membersOf } from "../../../shared/members.ts";
import { inlined, keysUnder, type Members, valueOf, yamlOf } from "./marked_object.ts";

/** A program with pods; its values are under this name. */
export type PodProgram = "agent" | "controller";

/** The name of a template with the settings of `config` that a program reads at its start alone. */
export function settingsTemplate(program: PodProgram): string {
  return `coallocator.${program}Settings`;
}

/** The DaemonSet or Deployment with values in place of the manifests' own. */
export function withPodValues(object: Members, program: PodProgram): Members {
  const values = `.Values.${program}`;
  return changed(object, {
    spec: (spec) => ({
      ...spec,
      ...("replicas" in spec ? { replicas: valueOf(`${values}.replicas`) } : {}),
      template: changed(membersOf(spec["template"]), {
        metadata: (metadata) => podMetadata(metadata, program),
        spec: (pod) => podSpec(pod, program),
      }),
    }),
  });
}

function podMetadata(metadata: Members, program: PodProgram): Members {
  const values = `.Values.${program}`;
  const settings = `include \`${settingsTemplate(program)}\` .`;
  return {
    ...metadata,
    labels: { ...membersOf(metadata["labels"]), ...inlined(`${values}.podLabels`) },
    annotations: {
      ...membersOf(metadata["annotations"]),
      // A program reads these settings at its start: new pods are needed.
      ...keysUnder(settings, { "checksum/config": valueOf(`${settings} | sha256sum`) }),
      ...inlined(`${values}.podAnnotations`),
    },
  };
}

function podSpec(
  { priorityClassName: _priority, tolerations: _tolerations, containers, ...pod }: Members,
  program: PodProgram,
): Members {
  const values = `.Values.${program}`;
  const given = (key: string, path = `${values}.${key}`): Members =>
    keysUnder(path, { [key]: yamlOf(path) });
  const image = `empty ${values}.image.digest | ternary ` +
    "(printf `:%s` (.Values.image.tag | default .Chart.AppVersion)) " +
    `(printf \`@%s\` ${values}.image.digest) | ` +
    `printf \`%s/mbcas-${program}%s\` .Values.image.registry | quote`;
  return {
    ...pod,
    nodeSelector: yamlOf(`${values}.nodeSelector`),
    ...keysUnder(`${values}.priorityClassName`, {
      priorityClassName: valueOf(`${values}.priorityClassName | quote`),
    }),
    ...given("tolerations"),
    ...given("affinity"),
    ...given("imagePullSecrets", ".Values.imagePullSecrets"),
    containers: [containers].flat().map((container) => ({
      ...membersOf(container),
      image: valueOf(image),
      ...keysUnder(".Values.image.pullPolicy", {
        imagePullPolicy: valueOf(".Values.image.pullPolicy"),
      }),
      resources: yamlOf(`${values}.resources`),
    })),
  };
}

/** The object with members that functions make of the present ones. */
function changed(
  object: Members,
  changes: Readonly<Record<string, (value: Members) => Members>>,
): Members {
  const made = Object.entries(changes).map(([key, make]) => [key, make(membersOf(object[key]))]);
  return { ...object, ...Object.fromEntries(made) };
}
