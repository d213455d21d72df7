/**
 * Asks components whether they serve. Works only inside the namespace.
 *
 * @module
 */
import type { Probe } from "./component.ts";
import { type Instance, NETWORK } from "../instance.ts";

/** Asks as the administrator. */
export interface Prober extends Disposable {
  /** Undefined when it serves, otherwise the reason as a message. */
  ask(probe: Probe): Promise<string | undefined>;
  /** The parsed JSON at a path of the API server. Throws when it does not give it. */
  get(path: string): Promise<unknown>;
}

/** A component that takes longer to answer does not serve. */
const PATIENCE_MS = 3_000;

/** A prober with the administrator's certificate. */
export async function openProber({ directory }: Instance): Promise<Prober> {
  const read = (file: string): Promise<string> => Deno.readTextFile(`${directory}/pki/${file}`);
  const client = Deno.createHttpClient({
    caCerts: [await read("ca.crt")],
    cert: await read("admin.crt"),
    key: await read("admin.key"),
  });
  const fetchText = async (url: string): Promise<string> => {
    const answer = await fetch(url, { client, signal: AbortSignal.timeout(PATIENCE_MS) });
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`Cannot get ${url}: status ${answer.status} ${reasonIn(text)}`);
    }
    return text;
  };
  return {
    async ask(probe) {
      try {
        if ("url" in probe) await fetchText(probe.url);
        else (await Deno.connect({ transport: "unix", path: probe.socket })).close();
        return undefined;
      } catch (error) {
        return firstLine(error instanceof Error ? error.message : String(error));
      }
    },
    get: async (path) => JSON.parse(await fetchText(`${NETWORK.apiServer}${path}`)),
    [Symbol.dispose]: () => client.close(),
  };
}

/** The check that failed, in the lists that `readyz` gives; otherwise the first line. */
export function reasonIn(text: string): string {
  return /^\[-\].*$/m.exec(text)?.[0] ?? firstLine(text);
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
