/**
 * The namespace of the installation that the command works with.
 *
 * @module
 */
import { DEFAULT_NAMESPACE, SETTINGS } from "../../../shared/installation.ts";

/** Namespace of agents, controllers and settings: another one where the variable names it. */
export const SYSTEM_NAMESPACE: string = Deno.env.get("COALLOC_SYSTEM_NAMESPACE") ||
  DEFAULT_NAMESPACE;

/** Path of the settings on the API server. */
export function settingsPath(): string {
  return `/api/v1/namespaces/${SYSTEM_NAMESPACE}/configmaps/${SETTINGS.name}`;
}
