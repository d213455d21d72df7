/**
 * The policy in a file of manifests.
 *
 * @module
 */
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { faultText } from "../../../../shared/api/fields.ts";
import { readPolicySpec } from "../../../../shared/rightsizing/policy_spec.ts";
import type { ReplayedPolicy } from "../../../../lab/simulation/rightsizing/replay_policy.ts";
import { CommandProblem } from "../../ports.ts";

/** A policy by its name. */
export interface NamedPolicy {
  readonly name: string;
  readonly policy: ReplayedPolicy;
}

const KIND = "OptimizationPolicy";

const manifestSchema = z.looseObject({
  kind: z.literal(KIND),
  metadata: z.looseObject({ name: z.string() }).optional(),
  spec: z.unknown(),
});

/**
 * The only `OptimizationPolicy` among the file's YAML or JSON documents. Throws a `CommandProblem` that
 * names the file and what is wrong: no YAML, none or several policies, a field.
 */
export function policyInFile(text: string, path: string): NamedPolicy {
  const refuse = (state: string, cause?: unknown): CommandProblem =>
    new CommandProblem(`Cannot replay policy "${path}": ${state}`, { cause });
  const documents = parseAllDocuments(text);
  const policies = [...documents].flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw refuse(`it is not YAML: ${firstLine(error.message)}`, error);
    const read = manifestSchema.safeParse(document.toJS());
    return read.success ? [read.data] : [];
  });
  const [only] = policies;
  if (only === undefined || policies.length > 1) {
    throw refuse(`it has ${policies.length} objects of kind ${KIND}, expected one`);
  }
  const { spec: policy, faults } = readPolicySpec(only.spec, { provider: "prometheus" });
  if (policy === undefined) throw refuse(faults.map(faultText).join("; "));
  return { name: only.metadata?.name ?? path, policy };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]?.replace(/:$/, "") ?? "";
}
