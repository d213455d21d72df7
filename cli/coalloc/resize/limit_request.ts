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
}

/** Reads one value of the flag; commander hands over those before it. */
export function limitRequestParser(
  text: string,
  before: readonly LimitRequest[] = [],
): LimitRequest[] {
  const equals = text.lastIndexOf("=");
  const container = text.slice(0, Math.max(0, equals));
  const limitCPU = quantity(text.slice(equals + 1));
  if (equals === 0) throw new InvalidArgumentError(`The name before "${text}" is missing`);
  const request = equals < 0 ? { limitCPU } : { container, limitCPU };
  const isUnnamed = [...before, request].some((one) => one.container === undefined);
  if (before.length > 0 && isUnnamed) {
    throw new InvalidArgumentError("Name the container of each limit, as in app=200m");
  }
  if (before.some((other) => other.container === request.container)) {
    throw new InvalidArgumentError(`Container ${container} has two limits`);
  }
  return [...before, request];
}

const quantity = cpuParser();
