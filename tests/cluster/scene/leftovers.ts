/**
 * What of the product is still in the cluster.
 *
 * @module
 */
import type { Kubectl } from "../kubectl.ts";

/** Everything the product installs, by kind; pods and the like go with its namespace. */
const CLUSTER_KINDS = [
  "customresourcedefinitions,clusterroles,clusterrolebindings,priorityclasses",
  "validatingadmissionpolicies,validatingadmissionpolicybindings,mutatingwebhookconfigurations",
].join();

/** Names of the product's objects that have no namespace, its namespace, and what it has elsewhere. */
export async function leftovers(kubectl: Kubectl): Promise<readonly string[]> {
  const names = async (...args: string[]): Promise<string[]> =>
    (await kubectl.must(["get", ...args, "-o", "name", "--ignore-not-found"])).split("\n");
  const all = [
    ...await names(CLUSTER_KINDS),
    ...await names("namespaces"),
    ...await names("roles,rolebindings,configmaps,leases,networkpolicies", "-A"),
  ];
  return all.filter((name) => /mbcas|spotalis-annotations/.test(name));
}
