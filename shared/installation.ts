/**
 * Names of an installation in the cluster.
 *
 * @module
 */

/** Default namespace of agents, controllers and settings. */
export const DEFAULT_NAMESPACE = "mbcas-system";

/** Lease of the leading controller. */
export const CONTROLLER_LEASE = "mbcas-controller";

/** Deployment of the controllers. */
export const CONTROLLER_DEPLOYMENT = "mbcas-controller";

/** ConfigMap of the settings file, and the file's key in it. */
export const SETTINGS = { name: "mbcas-config", key: "config.yaml" } as const;

/** The label with the version of a program or definition. */
export const VERSION_LABEL = "app.kubernetes.io/version";
/** The label with the name of a program. */
export const APP_LABEL = "app.kubernetes.io/name";
/** The agents' value of {@linkcode APP_LABEL}. */
export const AGENT_APP = "mbcas-agent";
/** The controllers' value of {@linkcode APP_LABEL}. */
export const CONTROLLER_APP = "mbcas-controller";

/** Lists the controllers' pods, in whichever namespace the installation is. */
export const LIST_CONTROLLERS = `kubectl get pods -A -l ${APP_LABEL}=${CONTROLLER_APP}`;

/** The port on which a controller serves its metrics. */
export const CONTROLLER_PORT = 8080;
/** The port on which a controller serves the dashboard. */
export const DASHBOARD_PORT = 8082;
/** The port on which an agent serves its view and its metrics. */
export const AGENT_PORT = 8081;

/** ServiceAccount for users without a token of their own. */
export const DASHBOARD_ACCOUNT = "mbcas-dashboard";
