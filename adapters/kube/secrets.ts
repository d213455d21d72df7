/**
 * A Secret on a real API server: read and written by its name, never listed.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { type KubeConnection, type KubeRequest, pathPart } from "./connection.ts";
import { objectOf, textOf, textsOf } from "./json_fields.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";

/** What is in a Secret, as text. */
export type SecretTexts = Readonly<Record<string, string>>;

/** A Secret as it was read. */
export interface KubeSecret {
  readonly resourceVersion: string;
  /** Decoded. What is no base64 is empty, and what is no UTF-8 has replacement characters. */
  readonly data: SecretTexts;
}

/** One Secret; the controller's port `CertificateStore`. */
export interface KubeSecretStore {
  /** The Secret; undefined when there is none. Throws an `ApiError` when it can't be read. */
  read(): Promise<KubeSecret | undefined>;
  /** Throws an `ApiError` with status 409 when somebody else was first. */
  create(data: SecretTexts): Promise<void>;
  /** Throws an `ApiError` with status 409 when it was written since `seen` was read. */
  replace(seen: KubeSecret, data: SecretTexts): Promise<void>;
}

/** Which Secret. */
export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
  /** Of a Secret that is made here. */
  readonly labels: Readonly<Record<string, string>>;
}

/** What a write keeps of the Secret that it replaces. */
interface Kept {
  readonly uid: string;
  readonly type: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The Secret of this name. */
export function createSecretStore(
  connection: KubeConnection,
  { namespace, name, labels }: SecretPlace,
): KubeSecretStore {
  const collection = `/api/v1/namespaces/${pathPart(namespace)}/secrets`;
  const path = `${collection}/${pathPart(name)}`;
  const kept = new WeakMap<KubeSecret, Kept>();
  const body = (
    data: SecretTexts,
    metadata: Readonly<Record<string, unknown>>,
    type = "Opaque",
  ): unknown => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name, ...metadata },
    type,
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, encoded(text)])),
  });
  const send = (request: KubeRequest): Promise<unknown> => discreetly(connection, request);
  return {
    async read() {
      try {
        const raw = objectOf(await send({ path }));
        const { uid, resourceVersion } = parseNamespacedIdentity(raw);
        const metadata = objectOf(raw.metadata);
        const secret: KubeSecret = { resourceVersion, data: decodedTexts(raw.data) };
        kept.set(secret, {
          uid,
          type: textOf(raw.type),
          labels: textsOf(metadata.labels),
          annotations: textsOf(metadata.annotations),
        });
        return secret;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    async create(data) {
      await send({
        method: "POST",
        path: collection,
        body: body(data, { labels }),
      });
    },
    async replace(seen, data) {
      const { type, ...metadata } = kept.get(seen) ?? { type: undefined };
      const { resourceVersion } = seen;
      await send({
        method: "PUT",
        path,
        body: body(data, { ...metadata, resourceVersion }, type),
      });
    },
  };
}

/** An answer that is no JSON is not told of in the parser's words: they repeat parts of it. */
async function discreetly(connection: KubeConnection, request: KubeRequest): Promise<unknown> {
  try {
    return await connection.request(request);
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === "BadAnswer")) throw error;
    const { method = "GET", path } = request;
    throw new ApiError(0, error.reason, `${method} ${path}: the answer is no JSON`);
  }
}

function encoded(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

function decodedTexts(data: unknown): SecretTexts {
  return Object.fromEntries(
    Object.entries(textsOf(data)).map(([key, text]) => [key, decoded(text)]),
  );
}

function decoded(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(text));
  } catch {
    return "";
  }
}
