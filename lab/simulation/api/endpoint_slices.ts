/**
 * One EndpointSlice on the simulated API.
 *
 * @module
 */
import type { EndpointSliceStore } from "../../../controller/webhook/ports.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import type { ApiAccess } from "./request_gate.ts";

/** The port's implementation for the EndpointSlice of this name. */
export function createEndpointSliceStore(
  { store, gate }: ApiAccess,
  ref: { readonly namespace: string; readonly name: string },
): EndpointSliceStore {
  const { EndpointSlice: slices } = store.tables;
  const kind = "EndpointSlice";
  return {
    read: () => gate.send({ verb: "get", kind }, () => slices.get(objectKey(ref))),
    create(spec) {
      const metadata = { ...ref, uid: "", resourceVersion: "" };
      return gate.send({ verb: "create", kind }, () => void slices.create({ ...spec, metadata }));
    },
    replace: ({ metadata }, spec) =>
      gate.send({ verb: "update", kind }, () => {
        slices.replace({ ...spec, metadata: { ...metadata, ...ref } });
      }),
  };
}
