/**
 * The objects that a request may see: the namespaces in which its user may list pods, and the nodes if
 * it may list nodes. The API server decides, by TokenReview and SubjectAccessReview.
 *
 * @module
 */
import { HTTPException } from "hono/http-exception";
import type {
  AccessReviews,
  AccessRule,
  ReviewedUser,
} from "../../adapters/kube/client/api_checks.ts";
import type { Clock } from "../../shared/clock.ts";
import { inParallel } from "../../shared/control/in_parallel.ts";

/** A user, and the namespaces and nodes that it may see. */
export interface Viewer {
  readonly name: string;
  maySeeNodes(): Promise<boolean>;
  maySee(namespace: string): Promise<boolean>;
  /** Selects the namespaces that the user may see. */
  visible(namespaces: Iterable<string>): Promise<ReadonlySet<string>>;
}

/** Reviews of tokens, each kept for a short time. */
export interface Access {
  /** Undefined for a token that is not accepted. */
  viewerOf(token: string): Promise<Viewer | undefined>;
}

/** A right that was withdrawn, or a token that has expired, is noticed after this time, ms. */
const KEPT_MS = 30_000;

/** A right that was granted is noticed after this time, ms: each page checks all namespaces, of which many users see few. */
const REFUSAL_KEPT_MS = 300_000;

/** Tokens, and rights, that are remembered at the same time; the oldest go first. */
const MOST_KEPT = 20_000;

/** Reviews of one user that are under way at the same time. */
const AT_ONCE = 8;

/** Tokens under review at the same time: anyone may send some, and each costs the API server a request. */
const MOST_REVIEWS = 32;

const LIST_PODS = { verb: "list", group: "", resource: "pods" } as const;
const LIST_NODES = { verb: "list", group: "", resource: "nodes" } as const;

/** Access by these reviews. */
export function createAccess(
  { reviews, clock }: { readonly reviews: AccessReviews; readonly clock: Clock },
): Access {
  const viewers = createBriefCache<Viewer | undefined>(clock);
  const rights = createBriefCache<boolean>(clock);
  let underReview = 0;

  async function viewer(user: ReviewedUser): Promise<Viewer> {
    const identity = await digest(JSON.stringify(user));
    const may = (rule: AccessRule): Promise<boolean> =>
      rights.get(
        `${identity} ${rule.resource} ${rule.namespace ?? ""}`,
        () => reviews.isAllowed(user, rule),
      );
    const maySee = async (namespace: string): Promise<boolean> =>
      await may(LIST_PODS) || await may({ ...LIST_PODS, namespace });
    return {
      name: user.username,
      maySeeNodes: () => may(LIST_NODES),
      maySee,
      async visible(namespaces) {
        const visible = new Set<string>();
        await inParallel([...new Set(namespaces)], async (name) => {
          if (await maySee(name)) visible.add(name);
        }, { concurrency: AT_ONCE });
        return visible;
      },
    };
  }

  return {
    async viewerOf(token) {
      // The cache has digests, so that memory holds no token that is not in use.
      return await viewers.get(await digest(token), async () => {
        if (underReview >= MOST_REVIEWS) {
          throw new HTTPException(503, { message: "Too many tokens are under review" });
        }
        underReview++;
        try {
          const user = await reviews.userOf(token);
          return user && await viewer(user);
        } finally {
          underReview--;
        }
      });
    },
  };
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(bytes).toBase64();
}

/** A cache of answers for a short time; errors are not cached. */
function createBriefCache<T>(
  clock: Clock,
): { get(key: string, ask: () => Promise<T>): Promise<T> } {
  const entries = new Map<string, { readonly answer: Promise<T>; untilMs: number }>();
  return {
    get(key, ask) {
      const known = entries.get(key);
      if (known !== undefined && known.untilMs > clock.monotonic()) return known.answer;
      entries.delete(key);
      const [oldest] = entries.keys();
      if (entries.size >= MOST_KEPT && oldest !== undefined) entries.delete(oldest);
      const answer = ask();
      const entry = { answer, untilMs: clock.monotonic() + KEPT_MS };
      entries.set(key, entry);
      answer.then((value) => {
        if (value === false) entry.untilMs = clock.monotonic() + REFUSAL_KEPT_MS;
      }, () => entries.delete(key));
      return answer;
    },
  };
}
