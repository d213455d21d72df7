/**
 * What a webhook answers an API server.
 *
 * @module
 */
import type { JSONPatchOperation } from "./json_patch.ts";

/** An `AdmissionReview` with a response. Nothing is ever refused here. */
export interface AdmissionAnswer {
  readonly apiVersion: "admission.k8s.io/v1";
  readonly kind: "AdmissionReview";
  readonly response: {
    readonly uid: string;
    readonly allowed: true;
    readonly patchType?: "JSONPatch";
    /** The operations as JSON in base64. */
    readonly patch?: string;
    readonly warnings?: readonly string[];
  };
}

/** What is to be said. */
export interface AnswerParts {
  readonly patch: readonly JSONPatchOperation[];
  readonly warnings: readonly string[];
}

/** A server cuts longer ones, where they are many (k8s.io/apiserver, endpoints/filters/warning.go). */
export const LONGEST_WARNING = 256;

/** Characters of all warnings together; what a server gets beyond them it leaves out (same place). */
export const LONGEST_WARNINGS = 4096;

/** The answer that lets the object pass, with this patch. Warnings are cut, and each said once. */
export function admissionAnswer(uid: string, { patch, warnings }: AnswerParts): AdmissionAnswer {
  const said = saidOnce(warnings);
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: {
      uid,
      allowed: true,
      ...(patch.length === 0 ? {} : { patchType: "JSONPatch", patch: base64(patch) }),
      ...(said.length === 0 ? {} : { warnings: said }),
    },
  };
}

function saidOnce(warnings: readonly string[]): readonly string[] {
  const texts = new Set(warnings.map(warningText).filter((text) => text !== ""));
  let room = LONGEST_WARNINGS;
  return [...texts].filter((text) => (room -= [...text].length) >= 0);
}

/** One line of at most 256 characters: a header carries it, which holds no control characters. */
function warningText(text: string): string {
  const characters = [...text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").trim()];
  if (characters.length <= LONGEST_WARNING) return characters.join("");
  return `${characters.slice(0, LONGEST_WARNING - 1).join("")}…`;
}

function base64(patch: readonly JSONPatchOperation[]): string {
  return new TextEncoder().encode(JSON.stringify(patch)).toBase64();
}
