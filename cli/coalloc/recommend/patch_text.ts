/**
 * Recommendations as strategic-merge patches of manifests that are kept in Git. Pure.
 *
 * @module
 */
import { defined, mapDefined } from "../../../shared/defined.ts";
import { pair, type ResourcePair } from "../../../shared/resize/inputs/resources.ts";
import { safeMemory } from "../../../shared/rightsizing/guards/memory_decrease.ts";
import type {
  AdviceView,
  AdvisedContainer,
  AdvisedWorkload,
} from "../../../shared/view/advice_view.ts";
import type { ContainerAmounts } from "../../../shared/rightsizing/workload_record.ts";
import { amountText, changesText } from "../../../shared/view/changes.ts";
import { stringify } from "yaml";
import { formatCPU } from "../../../shared/quantity.ts";
import { textLines } from "../../terminal/terminal_text.ts";
import { workloadTitle } from "../../../shared/view/figures.ts";

/** Amounts for a patch, and how they differ from the recommendation. */
export interface MergeableAmounts {
  readonly values: ContainerAmounts;
  /** In sentences, without a period. */
  readonly notes: readonly string[];
}

/**
 * The recommendation with memory lowered no further than to the largest sample + 15 %, not at all where
 * that sample is unknown, and with requests cut at limits that stay.
 */
export function mergeableAmounts(container: AdvisedContainer): MergeableAmounts {
  const { recommended = {}, template, pods } = container;
  // Without a readable template the values of most pods count.
  const present = template ?? pods[0] ?? {};
  const { memory: _memory, memoryLimit: _memoryLimit, ...cpuAmounts } = recommended;
  const { pair: { request, limit }, unsafe } = safeAmounts(container, present);
  const safe: ContainerAmounts = {
    ...cpuAmounts,
    ...defined({ memory: request, memoryLimit: limit }),
  };
  const cpu = cappedRequest(safe.cpu, safe.cpuLimit ?? present.cpuLimit);
  const memory = cappedRequest(safe.memory, safe.memoryLimit ?? present.memoryLimit);
  return {
    values: { ...safe, ...defined({ cpu, memory }) },
    notes: [
      ...(unsafe === undefined ? [] : [unsafe]),
      ...(cpu === undefined || cpu === safe.cpu ? [] : [cutNote("cpu", cpu)]),
      ...(memory === undefined || memory === safe.memory ? [] : [cutNote("memory", memory)]),
    ],
  };
}

/** Memory that is safe to set, and why it differs from the recommendation. */
function safeAmounts(
  { recommended = {}, usage }: AdvisedContainer,
  present: ContainerAmounts,
): { readonly pair: ResourcePair; readonly unsafe?: string } {
  const wanted = pair(recommended.memory, recommended.memoryLimit);
  const presentPair = pair(present.memory, present.memoryLimit);
  const peak = usage?.memory?.max;
  const safe = safeMemory(wanted, { present: [presentPair], peak });
  const side = safe.request === wanted.request ? "limit" : "request";
  if (safe[side] === wanted[side]) return { pair: safe };
  const what = side === "limit" ? "memory limit" : "memory";
  const fate = safe[side] === undefined
    ? `${what} is left out`
    : `${what} is lowered to no less than ${amountText("memory", safe[side])}`;
  const lowered = amountText("memory", wanted[side] ?? 0);
  const why = peak === undefined
    ? `${lowered} is less than it has, and its peak is not known`
    : `${lowered} is below its largest sample, ${amountText("memory", peak)}, + 15 %, and could ` +
      "kill it";
  return { pair: safe, unsafe: `${fate}: ${why}` };
}

function cappedRequest(request: number | undefined, limit = Infinity): number | undefined {
  return request === undefined ? undefined : Math.min(request, limit);
}

function cutNote(what: "cpu" | "memory", limit: number): string {
  return `${what} is cut to the limit, ${amountText(what, limit)}, which the patch leaves alone`;
}

/** A workload's patch, or why there is none. */
interface Patch {
  /** Lines without the mark of a comment. */
  readonly comments: readonly string[];
  /** Absent where there is nothing to patch. */
  readonly body?: unknown;
}

/** Comments and values for a container in a patch. */
interface ContainerPatch {
  readonly comments: readonly string[];
  readonly entry?: {
    readonly name: string;
    readonly resources: {
      readonly requests?: Quantities;
      readonly limits?: Quantities;
    };
  };
}

type Quantities = { readonly [name in "cpu" | "memory"]?: string };

const HEAD = [
  "Requests, and limits where they are recommended, as strategic-merge patches: made by",
  "kubectl coalloc recommend -o patch. List this file under patches: of a kustomization.yaml.",
] as const;

/**
 * A YAML document for each workload, with comments. It also has values that the manifest has already: these
 * may come from the last patch, which this one replaces.
 */
export function patchText(view: AdviceView): string {
  const patches = view.workloads.map(patchOf);
  const left = patches.filter(({ body }) => body === undefined);
  const head = commentLines([
    ...HEAD,
    ...view.workloads.length === 0 ? ["No recommendations here."] : [changesText(view.changes)],
    ...view.notes,
    ...left.flatMap(({ comments }) => comments),
  ]);
  const documents = patches.filter(({ body }) => body !== undefined).map(({ comments, body }) =>
    commentLines(comments) + stringify(body, { lineWidth: 0 })
  );
  return [head, ...documents].join("---\n");
}

function commentLines(lines: readonly string[]): string {
  return textLines(lines.map((line) => `# ${line}`));
}

function patchOf(workload: AdvisedWorkload): Patch {
  const { kind, namespace, name, exists, reason, means } = workload;
  const title = `${kind} ${namespace}/${name}`;
  if (exists === false) return { comments: [`${title} is left out: it no longer exists`] };
  const parts = workload.containers.map((container) => ({
    container,
    ...containerPatch(container, workload),
  }));
  const entries = (sidecars: boolean): readonly ContainerPatch["entry"][] =>
    parts.flatMap(({ container, entry }) =>
      entry === undefined || container.sidecar !== sidecars ? [] : [entry]
    );
  const [containers, initContainers] = [entries(false), entries(true)];
  const comments = parts.flatMap(({ container, comments }) =>
    comments.map((line) => `${container.name} of ${workloadTitle(workload)}: ${line}`)
  );
  if (containers.length + initContainers.length === 0) {
    const why = reason === undefined ? "there is no recommendation" : `${reason}: ${means}`;
    return { comments: [`${title} is left out: ${why}`, ...comments] };
  }
  const spec = {
    ...(containers.length > 0 ? { containers } : {}),
    ...(initContainers.length > 0 ? { initContainers } : {}),
  };
  return {
    comments: [...headOf(workload, title), ...comments],
    body: {
      apiVersion: "apps/v1",
      kind,
      metadata: { name, namespace },
      spec: { template: { spec } },
    },
  };
}

function headOf({ policy, status, reason, means }: AdvisedWorkload, title: string): string[] {
  return [
    `${title}, policy ${policy.namespace}/${policy.name}: ${status}`,
    ...(reason === undefined ? [] : [`${reason}: ${means}`]),
  ];
}

function containerPatch(container: AdvisedContainer, workload: AdvisedWorkload): ContainerPatch {
  const { name, recommended, template, explanation } = container;
  if (recommended === undefined) return { comments: ["no recommendation"] };
  // The patch would add a container without an image.
  if (template === undefined && workload.exists === true) {
    return { comments: ["left out: the template has no such container"] };
  }
  const { values, notes } = mergeableAmounts(container);
  const requests = quantities(values.cpu, values.memory);
  const limits = quantities(values.cpuLimit, values.memoryLimit);
  return {
    comments: [...(explanation === undefined ? [] : [explanation]), ...notes],
    entry: { name, resources: defined({ requests, limits }) },
  };
}

/** Memory in plain bytes, as reports have it: no digit is lost. Undefined where there is neither. */
function quantities(cpu: number | undefined, memory: number | undefined): Quantities | undefined {
  const found = defined({ cpu: mapDefined(cpu, formatCPU), memory: mapDefined(memory, String) });
  return Object.keys(found).length === 0 ? undefined : found;
}
