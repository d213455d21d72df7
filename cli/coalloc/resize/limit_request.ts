/**
 * `--cpu-limit [container=]QUANTITY`.
 *
 * @module
 */
import { InvalidArgumentError } from "commander";
import { cpuText } from "../../../shared/view/figures.ts";
import { cpuParser } from "../formats.ts";

/** A limit that the user wants. */
export interface LimitRequest {
  /** The pod's only container when absent. */
  readonly container?: string;
  /** Millicores, above 0. */
  readonly limitCPU: number;
}

/** Reads one value of the flag; commander passes those before it. */
export function limitRequestParser(
  text: string,
  before: readonly LimitRequest[] = [],
): LimitRequest[] {
  const equals = text.lastIndexOf("=");
  if (equals === 0) throw new InvalidArgumentError(`The name before "${text}" is missing`);
  const limitCPU = quantity(text.slice(equals + 1));
  return [...before, equals < 0 ? { limitCPU } : { container: text.slice(0, equals), limitCPU }];
}

/** Why these limits can't be those of one pod; undefined when they can. */
export function limitsProblem(limits: readonly LimitRequest[]): string | undefined {
  const unnamed = limits.find(({ container }) => container === undefined);
  if (limits.length > 1 && unnamed !== undefined) {
    const limit = cpuText(unnamed.limitCPU);
    return `--cpu-limit ${limit} names no container; write it as in --cpu-limit app=${limit}`;
  }
  const containers = limits.map(({ container }) => container);
  const twice = containers.find((one, index) => containers.indexOf(one) < index);
  return twice === undefined
    ? undefined
    : `container ${twice} has several limits; give --cpu-limit once per container`;
}

const quantity = cpuParser();
