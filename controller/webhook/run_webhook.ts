/**
 * The webhook of a leader from its first certificate to its end: listens once there is one, leads the
 * Service there, serves each certificate that comes after it.
 *
 * @module
 */
import type { Log } from "../../shared/log.ts";
import type { KeyedCertificate } from "./ports.ts";

/** A server that listens. */
export interface ListeningWebhook {
  readonly address: string;
  /** Serves another certificate to the connections to come. */
  useCertificate(pair: KeyedCertificate): void;
  /** Resolves when the answers in work are out. */
  shutdown(): Promise<void>;
}

/** What it runs with. */
export interface WebhookParts {
  readonly log: Log;
  /** Listens with this certificate. */
  readonly listen: (certificate: KeyedCertificate) => Promise<ListeningWebhook>;
  /** Hands each certificate over, until the signal is aborted: kept ones, or those of files. */
  readonly certificates: (
    use: (pair: KeyedCertificate) => Promise<void>,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Leads API servers to the port of this address until the signal is aborted. Never rejects. */
  readonly publish: (address: string, signal: AbortSignal) => Promise<void>;
  /** Receives what the webhook waits for; undefined once it serves. */
  readonly waitsFor: (reason: string | undefined) => void;
}

/** Runs until `signal` is aborted, and then ends what is in work. */
export async function runWebhook(parts: WebhookParts, signal: AbortSignal): Promise<void> {
  const { log, listen, certificates, publish, waitsFor } = parts;
  const failed = new AbortController();
  let server: ListeningWebhook | undefined;
  let published: Promise<void> | undefined;
  waitsFor("the webhook has no certificate yet");
  try {
    await certificates(async (pair) => {
      if (server !== undefined) return server.useCertificate(pair);
      server = await listen(pair);
      log.info("Webhook serving", { address: server.address });
      waitsFor(undefined);
      published = publish(server.address, AbortSignal.any([signal, failed.signal]));
    }, signal);
  } finally {
    waitsFor("the webhook has ended");
    failed.abort();
    await Promise.all([published, server?.shutdown()]);
  }
}
