/**
 * Keeps the endpoint of the webhook's Service, which is the replica that serves it: one EndpointSlice.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import { createBackoff, retryLevel } from "../../shared/control/backoff.ts";
import { isDeepStrictEqual } from "node:util";
import type { Log } from "../../shared/log.ts";
import type {
  EndpointSlice,
  EndpointSliceSpec,
  EndpointSliceStore,
} from "../../shared/admission/ports.ts";

/** The dependencies: the store, and the EndpointSlice to keep there. */
export interface KeptEndpointParts {
  readonly store: EndpointSliceStore;
  readonly spec: EndpointSliceSpec;
  readonly clock: Clock;
  readonly log: Log;
}

/** Time between two reads, ms: how long an EndpointSlice may stay changed or deleted. */
export const REPAIR_EVERY_MS = 5000;

/** The name of the Service's port, which the port of the EndpointSlice must have. */
const PORT_NAME = "https";

/** One ready endpoint at this address and port of the pod, for the Service of this name. */
export function endpointSpec(
  service: string,
  { address, port }: { readonly address: string; readonly port: number },
): EndpointSliceSpec {
  return {
    service,
    addressType: address.includes(":") ? "IPv6" : "IPv4",
    endpoints: [{ addresses: [address], ready: true }],
    ports: [{ name: PORT_NAME, port }],
  };
}

/**
 * Writes the EndpointSlice, and again whenever it differs, until `signal` is aborted; then takes the
 * endpoint out, unless another leader has written its own. Failures are logged and retried.
 */
export async function keepEndpoint(parts: KeptEndpointParts, signal: AbortSignal): Promise<void> {
  const { store, spec, clock, log } = parts;
  const backoff = createBackoff({ maxMs: REPAIR_EVERY_MS });

  async function reconcile(): Promise<void> {
    const seen = await store.read();
    if (signal.aborted || (seen !== undefined && isSame(seen, spec))) return;
    if (seen === undefined) await store.create(spec);
    else await store.replace(seen, spec);
    log.info("Endpoint of the webhook written", { address: spec.endpoints[0]?.addresses[0] });
  }

  while (!signal.aborted) {
    let waitMs = REPAIR_EVERY_MS;
    try {
      await reconcile();
      backoff.reset("");
    } catch (error) {
      waitMs = backoff.next("", error);
      log[retryLevel(error, waitMs)]("Failed to write the webhook's endpoint", {
        error: String(error),
        waitMs,
      });
    }
    await clock.sleep(waitMs, signal);
  }
  await withdraw(parts);
}

/** Without an endpoint API servers pass pods at once, instead of waiting for a replica that has ended. */
async function withdraw({ store, spec, log }: KeptEndpointParts): Promise<void> {
  try {
    const seen = await store.read();
    if (seen === undefined || !isSame(seen, spec)) return;
    await store.replace(seen, { ...spec, endpoints: [] });
    log.info("Endpoint of the webhook removed");
  } catch (error) {
    log.warn("Failed to remove the webhook's endpoint", { error: String(error) });
  }
}

function isSame({ metadata: _, ...seen }: EndpointSlice, spec: EndpointSliceSpec): boolean {
  return isDeepStrictEqual(seen, spec);
}
