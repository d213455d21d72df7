/**
 * The views, each with its path, the permission that it needs, its model and its page.
 *
 * @module
 */
import { HTTPException } from "hono/http-exception";
import { defined } from "../../shared/defined.ts";
import { TOP_ORDERS } from "../../shared/view/top_view.ts";
import type { Viewer } from "./access.ts";
import { clusterPage, clusterView } from "./pages/cluster_page.ts";
import type { Page } from "./pages/layout.ts";
import { nodeDetail, nodePage } from "./pages/node_page.ts";
import { placementPage, placementView } from "./pages/placement_page.ts";
import { podDetail, podPage } from "./pages/pod_page.ts";
import { podsPage, podsView } from "./pages/pods_page.ts";
import { rightsizingPage, rightsizingView } from "./pages/rightsizing_page.ts";
import type { ListChoice } from "./pages/tables.ts";
import type { DashboardState, ViewOptions } from "./state.ts";

/** A request for a view. */
export interface ViewRequest {
  readonly viewer: Viewer;
  /** Wall time, ms. */
  readonly nowMs: number;
  /** A parameter of the path. */
  readonly param: (name: string) => string;
  /** Undefined where it is empty or not there. */
  readonly query: (name: string) => string | undefined;
}

/** A view; both throw an `HTTPException` for an object that is missing, or that the user may not see. */
export interface View {
  /** A path of hono. */
  readonly path: string;
  page(state: DashboardState, request: ViewRequest): Promise<Page>;
  json(state: DashboardState, request: ViewRequest): Promise<object>;
}

type Model<M> = (state: DashboardState, request: ViewRequest) => Promise<M>;

function view<M extends object>(path: string, model: Model<M>, page: (model: M) => Page): View {
  return {
    path,
    page: async (state, request) => page(await model(state, request)),
    json: model,
  };
}

/** All views. */
export const VIEWS: readonly View[] = [
  view("/", async (state, request) => {
    await checkNodes(request.viewer);
    return clusterView(state, await optionsOf(state, request));
  }, clusterPage),
  view("/nodes/:node", async (state, request) => {
    await checkNodes(request.viewer);
    const node = request.param("node");
    const options = await optionsOf(state, request);
    const detail = nodeDetail(state, { ...options, node });
    return orNotFound(detail, `No agent has answered for node ${node}`);
  }, nodePage),
  view("/pods", async (state, request) => {
    const sort = TOP_ORDERS.find((order) => order === request.query("sort")) ?? "throttled";
    return podsView(state, { ...await optionsOf(state, request), sort });
  }, podsPage),
  view("/pods/:namespace/:pod", async (state, { viewer, nowMs, param, query }) => {
    const [namespace, name] = [param("namespace"), param("pod")];
    if (!await viewer.maySee(namespace)) {
      throw refused(viewer, `list pods of namespace ${namespace}`);
    }
    const detail = podDetail(state, { namespace, name, nowMs, choice: choiceOf(query) });
    return orNotFound(detail, `Pod ${name} does not exist in namespace ${namespace}`);
  }, podPage),
  view(
    "/rightsizing",
    async (state, request) => rightsizingView(state, await optionsOf(state, request)),
    rightsizingPage,
  ),
  view(
    "/placement",
    async (state, request) => placementView(state, await optionsOf(state, request)),
    placementPage,
  ),
];

async function checkNodes(viewer: Viewer): Promise<void> {
  if (!await viewer.maySeeNodes()) throw refused(viewer, "list nodes");
}

function refused({ name }: Viewer, action: string): HTTPException {
  const message = `User ${name} may not ${action}; Pods shows the pods that this user may list`;
  return new HTTPException(403, { message });
}

function orNotFound<M>(model: M | undefined, message: string): M {
  if (model === undefined) throw new HTTPException(404, { message });
  return model;
}

async function optionsOf(
  { caches }: DashboardState,
  { viewer, nowMs, query }: ViewRequest,
): Promise<ViewOptions> {
  const names = [...caches.namespaces.all()].map(({ metadata }) => metadata.name);
  const visible = await viewer.visible(names);
  return { visible: (namespace) => visible.has(namespace), nowMs, choice: choiceOf(query) };
}

/** The part of a long list that the query selects. */
function choiceOf(query: ViewRequest["query"]): ListChoice {
  return defined({
    page: Math.floor(Number(query("page"))) || 1,
    namespace: query("namespace"),
    search: query("search"),
  });
}
