/**
 * What is remembered of a container of the template, as it stands in reports.
 *
 * @module
 */
import type { ResourceName } from "../api/pod.ts";
import type { WrittenResource, WrittenTemplate } from "../api/recommendation_report.ts";
import { parseBytes, parseCPU } from "../quantity.ts";
import {
  byResource,
  formatAmount,
  pair,
  pairOf,
  RESOURCE_NAMES,
  type ResourcePair,
} from "../resize/inputs/resources.ts";
import { amountsOf, millisecondsOf, timeText, writtenAmounts } from "./recorded_values.ts";
import { resourcesOfAmounts } from "./values_in_force.ts";
import type { TemplateMemory, WrittenOver } from "./workload_record.ts";

/** The fields of a resource. */
const FIELDS = {
  cpu: { edited: "cpuEdited", oldBefore: "cpuOldBefore", written: "cpuWritten" },
  memory: { edited: "memoryEdited", oldBefore: "memoryOldBefore", written: "memoryWritten" },
} as const;

/** As it is written. */
export function writtenTemplate(
  { container, author, editedAtMs, oldBeforeMs = {}, written = {} }: TemplateMemory,
): WrittenTemplate {
  const fields = RESOURCE_NAMES.map((resource) => {
    const [edited, before] = [editedAtMs[resource], oldBeforeMs[resource]];
    const [over, names] = [written[resource], FIELDS[resource]];
    return {
      ...(edited === undefined ? {} : { [names.edited]: timeText(edited) }),
      ...(before === undefined ? {} : { [names.oldBefore]: timeText(before) }),
      ...(over === undefined ? {} : { [names.written]: writtenResource(resource, over) }),
    };
  });
  return Object.assign({ container, author: writtenAmounts(author) }, ...fields);
}

/**
 * As it is read, from reports of older versions, too, which had one `written` for both resources. Throws
 * a `SyntaxError` that names a bad quantity or time.
 */
export function templateOf(stored: WrittenTemplate): TemplateMemory {
  const oldBeforeMs = byResource((resource) => optionalTime(stored[FIELDS[resource].oldBefore]));
  const written = byResource((resource) => {
    const over = stored[FIELDS[resource].written];
    return over === undefined ? formerOver(resource, stored) : overOf(resource, over);
  });
  return {
    container: stored.container,
    author: amountsOf(stored.author),
    editedAtMs: byResource((resource) => optionalTime(stored[FIELDS[resource].edited])),
    ...(Object.keys(oldBeforeMs).length === 0 ? {} : { oldBeforeMs }),
    ...(Object.keys(written).length === 0 ? {} : { written }),
  };
}

function optionalTime(time: string | undefined): number | undefined {
  return time === undefined ? undefined : millisecondsOf(time);
}

function writtenResource(
  resource: ResourceName,
  { pair: { request, limit }, atMs, takenBackAtMs, times }: WrittenOver,
): WrittenResource {
  return {
    ...(request === undefined ? {} : { request: formatAmount(resource, request) }),
    ...(limit === undefined ? {} : { limit: formatAmount(resource, limit) }),
    at: timeText(atMs),
    ...(takenBackAtMs === undefined ? {} : { takenBack: timeText(takenBackAtMs) }),
    times,
  };
}

function overOf(resource: ResourceName, written: WrittenResource): WrittenOver {
  const parse = resource === "cpu" ? parseCPU : parseBytes;
  const amount = (text: string | undefined): number | undefined =>
    text === undefined ? undefined : parse(text);
  return writtenAt(pair(amount(written.request), amount(written.limit)), written);
}

function formerOver(
  resource: ResourceName,
  { written }: WrittenTemplate,
): WrittenOver | undefined {
  if (written === undefined) return undefined;
  const found = pairOf(resourcesOfAmounts(amountsOf(written)), resource);
  return Object.keys(found).length === 0 ? undefined : writtenAt(found, written);
}

function writtenAt(
  written: ResourcePair,
  { at, takenBack, times }: Pick<WrittenResource, "at" | "takenBack" | "times">,
): WrittenOver {
  return {
    pair: written,
    atMs: millisecondsOf(at),
    ...(takenBack === undefined ? {} : { takenBackAtMs: millisecondsOf(takenBack) }),
    times,
  };
}
