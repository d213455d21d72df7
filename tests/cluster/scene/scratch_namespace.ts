/**
 * A namespace for one test, removed with all that is in it when the test ends.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { until } from "./until.ts";

/** The namespace while it exists. */
export interface ScratchNamespace extends AsyncDisposable {
  readonly name: string;
}

/** What the namespace says of itself. */
export interface NamespaceMarks {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Makes a namespace and waits for its `default` ServiceAccount, without which no pod starts. */
export async function scratchNamespace(
  connection: KubeConnection,
  { labels = {}, annotations = {} }: NamespaceMarks = {},
): Promise<ScratchNamespace> {
  const name = `try-${crypto.randomUUID().slice(0, 8)}`;
  await connection.request({
    method: "POST",
    path: "/api/v1/namespaces",
    body: { metadata: { name, labels, annotations } },
  });
  await until(
    "default ServiceAccount",
    () => connection.request({ path: `/api/v1/namespaces/${name}/serviceaccounts/default` }),
  );
  return {
    name,
    [Symbol.asyncDispose]: async () => {
      const path = `/api/v1/namespaces/${name}`;
      const pods = { path: `${path}/pods`, query: { gracePeriodSeconds: "0" } };
      try {
        await connection.request({ ...pods, method: "DELETE" });
      } catch (error) {
        // Of a hundred pods the answer may be late; the server goes on.
        if (!(error instanceof ApiError && error.reason === "Timeout")) throw error;
      }
      await connection.request({ path, method: "DELETE" });
      await until(`end of namespace ${name}`, async () => {
        try {
          await connection.request({ path });
          return undefined;
        } catch (error) {
          return error instanceof ApiError && error.status === 404 ? true : undefined;
        }
      }, { timeoutMs: 120_000 });
    },
  };
}
