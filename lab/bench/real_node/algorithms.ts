/**
 * The four algorithms, as they are put up on a real cluster.
 *
 * @module
 */
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import type { Scene } from "../../simulation/scene.ts";
import { serviceAutoscaler, verticalAutoscaler } from "./service_objects.ts";
import { runVPA, type RunVPAOptions } from "./vertical_autoscaler.ts";

/**
 * An algorithm that is compared: the users' original limits; a HorizontalPodAutoscaler of one to four
 * replicas; a VerticalPodAutoscaler for CPU, InPlaceOrRecreate; agent and controller as shipped.
 */
export type AlgorithmName = "static" | "hpa" | "vpa" | "ours";

/** All of them, in the order in which they are played. */
export const ALGORITHMS: readonly AlgorithmName[] = ["static", "hpa", "vpa", "ours"];

/** Where an algorithm is put up. */
export interface AlgorithmStage extends RunVPAOptions {
  readonly scene: Scene;
  readonly connection: KubeConnection;
  /** The namespace of the services, which are there. */
  readonly namespace: string;
}

/**
 * Annotations of the namespace in which an algorithm rules: the product is there and may have to wait.
 */
export function namespaceAnnotations(algorithm: AlgorithmName): Readonly<Record<string, string>> {
  return algorithm === "ours" ? {} : { "mbcas.io/managed": "false" };
}

/** Puts up what the algorithm needs beside services and product; disposing of it takes that down. */
export async function deployAlgorithm(
  algorithm: AlgorithmName,
  stage: AlgorithmStage,
): Promise<AsyncDisposable> {
  const { scene, connection, namespace } = stage;
  const create = async (path: string, objectOf: (name: string) => unknown): Promise<void> => {
    for (const { name } of scene.pods) {
      const body = objectOf(name);
      await connection.request({ method: "POST", path: `/apis/${path}`, body });
    }
  };
  switch (algorithm) {
    case "static":
    case "ours":
      return { [Symbol.asyncDispose]: () => Promise.resolve() };
    case "hpa": {
      const path = `autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
      await create(path, serviceAutoscaler);
      return { [Symbol.asyncDispose]: () => Promise.resolve() };
    }
    case "vpa": {
      const running = await runVPA(stage);
      const path = `autoscaling.k8s.io/v1/namespaces/${namespace}/verticalpodautoscalers`;
      try {
        await create(path, verticalAutoscaler);
      } catch (error) {
        await running[Symbol.asyncDispose]();
        throw error;
      }
      return running;
    }
  }
}
