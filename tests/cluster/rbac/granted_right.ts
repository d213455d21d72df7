/**
 * The rights that a program's roles give, each verb on each resource by itself.
 *
 * @module
 */
import type { AccessRule } from "../../../adapters/kube/client/api_checks.ts";
import type { ManifestObject } from "../rendered_manifests.ts";

/** A rule of a role. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Bindings that have this service account among their subjects. */
function bindingsOf(objects: readonly ManifestObject[], account: string): ManifestObject[] {
  return objects.filter((object) =>
    /^(Cluster)?RoleBinding$/.test(object.kind) &&
    (object["subjects"] as readonly { kind: string; name: string }[]).some(
      ({ kind, name }) => kind === "ServiceAccount" && name === account,
    )
  );
}

/**
 * What a service account may do by the roles that are bound to it; what it may in one namespace only
 * has that namespace. Throws an `Error` for a binding with a role that is not there.
 */
export function grantedRights(
  objects: readonly ManifestObject[],
  account: string,
): readonly AccessRule[] {
  return bindingsOf(objects, account).flatMap((binding) => {
    const { kind, name } = binding["roleRef"] as { kind: string; name: string };
    const role = objects.find((one) => one.kind === kind && one.metadata.name === name);
    if (role === undefined) {
      throw new Error(`Cannot read the rights of ${account}: no ${kind} ${name}`);
    }
    const { namespace } = binding.metadata;
    const place = namespace === undefined ? {} : { namespace };
    return (role["rules"] as readonly PolicyRule[]).flatMap(rightsOfRule)
      .map((right) => ({ ...right, ...place }));
  });
}

function rightsOfRule(rule: PolicyRule): AccessRule[] {
  const names = rule.resourceNames ?? [undefined];
  return rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((full) => {
      const [resource = "", subresource] = full.split("/");
      const kind = { group, resource, ...(subresource === undefined ? {} : { subresource }) };
      return rule.verbs.flatMap((verb) =>
        names.map((name) => ({ verb, ...kind, ...(name === undefined ? {} : { name }) }))
      );
    })
  );
}

/** The rule that gives this right and nothing else. */
export function ruleOfRight({ verb, group, resource, subresource, name }: AccessRule): PolicyRule {
  return {
    apiGroups: [group],
    resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
    verbs: [verb],
    ...(name === undefined ? {} : { resourceNames: [name] }),
  };
}
