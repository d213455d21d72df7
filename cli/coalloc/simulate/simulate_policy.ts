/**
 * `simulate --policy`: replays a policy over a recorded history.
 *
 * @module
 */
import {
  type PolicyReplay,
  replayPolicy,
} from "../../../lab/simulation/rightsizing/replay_policy.ts";
import { readUsage, type UsageHistory } from "../../../lab/simulation/rightsizing/usage_history.ts";
import { guessOf } from "../../../lab/simulation/trace_files.ts";
import { structuredOutput, textTable } from "../output.ts";
import type { CoallocWorld } from "../ports.ts";
import { type NamedPolicy, policyInFile, readSource, readText } from "./read_history.ts";
import type { SimulateContext } from "./simulate_command.ts";
import type { ResourceName } from "../../../shared/api/pod.ts";
import { formatCount, formatFigure } from "../../../lab/simulation/report/figure.ts";
import { shorten } from "../../../lab/simulation/report/html.ts";
import type { TerminalStyle } from "../../terminal/terminal_text.ts";
import { requestChart } from "../../terminal/request_chart.ts";
import { cpuText, memoryText } from "../../../shared/view/figures.ts";
import type { PolicyRequest } from "./simulate_arguments.ts";

/** Replays the policy and shows the results. Resolves with the exit code. */
export async function simulatePolicy(
  request: PolicyRequest,
  { world, style }: SimulateContext,
): Promise<number> {
  const { policy: path, output } = request;
  const text = await readText(path, { readFile: world.readFile, what: "policy" });
  const named = policyInFile(text, path);
  const history = await readUsageOf(request, world);
  const played = world.runBlocking(() => replayPolicy(history, named.policy));
  const story: PolicyStory = { named, history, played };
  world.out(structuredOutput(policyData(story), output) ?? policyText(story, style));
  return 0;
}

async function readUsageOf(
  { source, resource }: PolicyRequest,
  { readFile, err }: Pick<CoallocWorld, "readFile" | "err">,
): Promise<UsageHistory> {
  const name = source.path;
  const refusal = () => (state: string) =>
    new SyntaxError(`Cannot read history "${name}": ${state}`);
  const { body, format } = await readSource(source, { readFile, what: "history", refusal });
  const history = readUsage(body, { name, resource, format });
  const { guess } = source.format === undefined ? guessOf(name, format) : {};
  if (guess !== undefined) err(`${guess}\n`);
  return history;
}

/** A replay of a policy, with its input and its results. */
interface PolicyStory {
  readonly named: NamedPolicy;
  readonly history: UsageHistory;
  readonly played: PolicyReplay;
}

const DAY_MS = 86_400_000;
const RESOURCE_NAMES: Readonly<Record<ResourceName, string>> = { cpu: "CPU", memory: "memory" };

/** The replay's input, the plot, a line per day, and the verdict. */
function policyText(story: PolicyStory, style: TerminalStyle = {}): string {
  return [
    ...settingSentences(story),
    "",
    chartOf(story, style),
    dayTable(story, style),
    ...verdictSentences(story),
    "",
    ...noteSentences(story),
    "",
  ].join("\n");
}

function settingSentences({ named: { name, policy }, history, played }: PolicyStory): string[] {
  const { resource, stepMs, values } = history;
  const { percentile, safetyFactor, windowMs, bounds, intervalMs, updateStrategy } = policy;
  const { changeThresholdPercent, cooldownMs, updateRequestsOnly, limitMultipliers } =
    updateStrategy;
  const path = history.name === "-" ? "standard input" : shorten(history.name, 60);
  const { min, max } = bounds[resource];
  const limits = updateRequestsOnly
    ? "requests only"
    : `limits are ${limitMultipliers[resource]} × the request`;
  return [
    `${path}: ${spanText(values.length * stepMs)} of ${RESOURCE_NAMES[resource]}, a value per ` +
    `${formatSeconds(stepMs)}; judged after the first ${spanText(played.warmUpMs)}.`,
    `Policy ${name}: ${percentile} × ${safetyFactor} over ${spanText(windowMs)}, every ` +
    `${spanText(intervalMs)}, from ${amount(min, resource)} to ${
      amount(max, resource)
    }; changes of ` +
    `${changeThresholdPercent} % and more, ${spanText(cooldownMs)} apart; ${limits}.`,
  ];
}

function chartOf({ history, played }: PolicyStory, style: TerminalStyle): string {
  const { resource, atMs, values } = history;
  return requestChart({
    title: `${resource === "cpu" ? "CPU" : "Memory"} under the policy`,
    stretches: played.replay.steps.map(({ fromMs, first, end, inForce }) => ({
      fromMs,
      atMs: atMs.subarray(first, end),
      usage: values.subarray(first, end),
      request: inForce,
    })),
    text: (value) => scaleText(value, resource),
  }, style);
}

function dayTable({ history: { resource }, played }: PolicyStory, style: TerminalStyle): string {
  const last = resource === "cpu" ? "SHORT MIN" : "KILLS";
  return textTable({
    columns: [
      { head: "DAY", align: "right" },
      { head: "REQUEST", align: "right" },
      { head: "COVERED %", align: "right" },
      { head: last, align: "right" },
      { head: "WASTE", align: "right" },
      { head: "CHANGES", align: "right" },
    ],
    rows: played.days.map(({ day, least, most, judgement }) => [
      String(day + 1),
      [...new Set([least, most])].map((one) => amount(one, resource)).join(" - "),
      { text: percent(judgement.coverage), tone: judgement.coverage === 1 ? "green" : "yellow" },
      formatFigure(resource === "cpu" ? judgement.overLimitMinutes : judgement.kills),
      formatFigure(judgement.waste),
      String(judgement.changes),
    ]),
  }, style);
}

/** The verdict: coverage, waste, times over the limit and kills. */
function verdictSentences({ named, history: { resource }, played }: PolicyStory): string[] {
  const { coverage, waste, overLimitMinutes, longestShortMinutes, changes, kills } =
    played.judgement;
  const follow = !named.policy.updateStrategy.updateRequestsOnly;
  const short = coverage === 1
    ? "Usage never passed the request."
    : `The longest stretch above it lasted ${minutesText(longestShortMinutes)}.`;
  return [
    `The request would have covered ${percent(coverage)} % of the time, with ` +
    `${formatFigure(waste)} as much idle as used, by ${formatCount(changes, "change")}. ${short}`,
    ...(resource === "cpu"
      ? [
        follow
          ? `The limit would have throttled in ${minutesText(overLimitMinutes)}.`
          : `A limit of that size would have throttled in ${minutesText(overLimitMinutes)}; the ` +
            "policy leaves limits alone.",
      ]
      : [
        follow
          ? `The limit would ${kills === 0 ? "never " : ""}have killed the container${
            timesText(kills)
          }.`
          : "The policy leaves limits alone, so none of its own could have killed.",
      ]),
  ];
}

function noteSentences(
  { named: { policy }, history: { resource, stepMs } }: PolicyStory,
): string[] {
  return [
    ...(policy.mode === "Auto"
      ? []
      : [`The policy's mode is ${policy.mode}: this is what Auto would have done.`]),
    resource === "cpu"
      ? `Bursts inside of a sample of ${formatSeconds(stepMs)} are not in the file; throttling ` +
        "begins within 100 ms."
      : "A container that was killed goes on here as it was recorded.",
    "Demand that a limit throttled during the recording is missing in the file.",
  ];
}

/** The replay for programs. Times are seconds as in the file; CPU in millicores, memory in bytes. */
function policyData({ named, history, played }: PolicyStory): object {
  const { days, judgement, replay, warmUpMs } = played;
  const { days: _balances, ...total } = judgement;
  return {
    policy: named.name,
    history: history.name,
    resource: history.resource,
    stepS: history.stepMs / 1000,
    warmUpS: warmUpMs / 1000,
    total,
    days: days.map(({ day, least, most, judgement: { days: _none, ...figures } }) => ({
      day,
      leastRequest: least,
      mostRequest: most,
      ...figures,
    })),
    requests: replay.steps.filter(({ changed }, index) => changed || index === 0)
      .map(({ fromMs, inForce }) => ({ atS: fromMs / 1000, request: inForce })),
    kills: replay.steps.flatMap(({ kills }) =>
      kills.map(({ atMs, limit }) => ({ atS: atMs / 1000, limit }))
    ),
  };
}

function amount(value: number, resource: ResourceName): string {
  return resource === "cpu" ? cpuText(value) : memoryText(value);
}

/** At most five characters. */
function scaleText(value: number, resource: ResourceName): string {
  if (resource === "cpu") return formatFigure(value / 1000);
  const [, number = "", unit = ""] = /^([\d.]+)(.*)$/.exec(memoryText(value)) ?? [];
  return `${number.slice(0, 3).replace(/\.$/, "")}${unit}`;
}

function percent(share: number): string {
  return (share * 100).toFixed(2);
}

/** The count after a verb; empty for 0. */
function timesText(count: number): string {
  if (count === 0) return "";
  return count === 1 ? " once" : ` ${count} times`;
}

function minutesText(minutes: number): string {
  return `${formatFigure(minutes).replace(/\.0+$/, "")} min`;
}

function formatSeconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`;
}

/** `7 d`, `24 h`, `30 min`. */
function spanText(ms: number): string {
  const days = ms / DAY_MS;
  if (days >= 2) return `${Number(days.toFixed(1))} d`;
  const hours = ms / 3_600_000;
  return hours >= 2 ? `${Number(hours.toFixed(1))} h` : `${Number((ms / 60_000).toFixed(1))} min`;
}
