/**
 * `--cpu-limit [container=]QUANTITY`.
 *
 * @module
 */
import { InvalidArgumentError } from "commander";
import { cpuParser } from "../formats.ts";

/** A limit that the user wants. */
export interface LimitRequest {
  /** The pod's only container when absent. */
  readonly container?: string;
  /** Millicores, above 0. */
  readonly limitCPU: number;
  /** The quantity as the user has typed it. */
  readonly text: string;
}

/** Reads one value of the flag; commander passes those before it. */
export function limitRequestParser(
  text: string,
  before: readonly LimitRequest[] = [],
): LimitRequest[] {
  const equals = text.lastIndexOf("=");
  if (equals === 0) throw new InvalidArgumentError(`The name before "${text}" is missing`);
  const typed = text.slice(equals + 1);
  const limit = { limitCPU: quantity(typed), text: typed };
  return [...before, equals < 0 ? limit : { container: text.slice(0, equals), ...limit }];
}

/** Why these limits can't be those of one pod; undefined when they can. */
export function limitsProblem(limits: readonly LimitRequest[]): string | undefined {
  const unnamed = limits.find(({ container }) => container === undefined);
  if (limits.length > 1 && unnamed !== undefined) {
    const { text } = unnamed;
    return `--cpu-limit ${text} names no container; write it as in --cpu-limit app=${text}`;
  }
  const containers = limits.map(({ container }) => container);
  const twice = containers.find((one, index) => containers.indexOf(one) < index);
  return twice === undefined
    ? undefined
    : `container ${twice} has several limits; give --cpu-limit once per container`;
}

const quantity = cpuParser();
