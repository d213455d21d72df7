/**
 * PersistentVolumes on a real API server.
 *
 * @module
 */
import type { PersistentVolume } from "../../shared/api/persistent_volume.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import type { KubeConnection } from "./connection.ts";
import { objectOf, present, textOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNodeTerms } from "./node_terms.ts";
import { parseIdentity } from "./object_identity.ts";

/** List-watch of all volumes. */
export function persistentVolumeListWatch(
  connection: KubeConnection,
  options: ListWatchSurroundings = {},
): ListWatch<PersistentVolume> {
  return kubeListWatch(connection, {
    ...options,
    path: "/api/v1/persistentvolumes",
    parse: parsePersistentVolume,
  });
}

/** The trimmed volume. Throws a `TypeError` without identity. */
export function parsePersistentVolume(raw: unknown): PersistentVolume {
  const { claimRef, nodeAffinity } = objectOf(objectOf(raw).spec);
  // Whoever was let go still names its claim, and one of the same name may be there again.
  const isReleased = objectOf(objectOf(raw).status).phase === "Released";
  const { namespace, name } = objectOf(isReleased ? undefined : claimRef);
  const [space, claim] = [textOf(namespace), textOf(name)];
  return {
    metadata: parseIdentity(raw),
    ...present(
      "claim",
      space === undefined || claim === undefined ? undefined : `${space}/${claim}`,
    ),
    ...present("nodes", parseNodeTerms(objectOf(nodeAffinity).required)),
  };
}
