/**
 * Addresses of the controller's servers that can't stand together.
 *
 * @module
 */

import { parseAddress } from "../adapters/program_server.ts";

/** The settings that are looked at. */
export interface CheckedAddresses {
  readonly listen: string;
  readonly webhook: boolean;
  readonly webhookListen: string;
}

/** Hosts that stand for all. */
const ANY_HOST = ["0.0.0.0", "::"];

/** A message where both servers have one port: the second would retry without end. */
export function listenFaults(
  { listen, webhook, webhookListen }: CheckedAddresses,
): readonly string[] {
  if (!webhook || !areSame(listen, webhookListen)) return [];
  return [
    `controller.listen is ${listen} and webhook.listen is ${webhookListen}: ` +
    "give each a port of its own",
  ];
}

function areSame(a: string, b: string): boolean {
  const [one, other] = [parseAddress(a), parseAddress(b)];
  const isOneHost = one.hostname === other.hostname ||
    ANY_HOST.includes(one.hostname) || ANY_HOST.includes(other.hostname);
  // Port 0 is a free one.
  return one.port === other.port && one.port !== 0 && isOneHost;
}
