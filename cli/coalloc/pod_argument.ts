/**
 * A pod as a user writes it.
 *
 * @module
 */

/** A name, and a namespace where the argument has one. */
export interface PodArgument {
  readonly namespace?: string;
  readonly name: string;
}

/** Reads `pod`, `pod/pod` and `namespace/pod`; undefined for anything else. */
export function podArgument(text: string): PodArgument | undefined {
  const [first = "", second, ...more] = text.replace(/^(pod|pods|po)\//, "").split("/");
  if (more.length > 0 || first === "" || second === "") return undefined;
  return second === undefined ? { name: first } : { namespace: first, name: second };
}
