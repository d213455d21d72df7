/**
 * The service in Deno: answers each request with totals by region, of orders that it parses, sorts
 * and sums anew. It runs as it stands here, alone in its image.
 *
 * @module
 */
interface Order {
  readonly region: string;
  readonly amount: number;
}

const REGIONS = 24;
const orders = JSON.stringify(
  Array.from({ length: 10_000 }, (_, index): Order => ({
    region: `region-${(index * 7919) % REGIONS}`,
    amount: (index * 104_729) % 9973,
  })),
);

function report(): { region: string; total: number; median: number | undefined }[] {
  const parsed: Order[] = JSON.parse(orders);
  const byRegion = Map.groupBy(parsed.sort((a, b) => a.amount - b.amount), ({ region }) => region);
  return [...byRegion].map(([region, found]) => ({
    region,
    total: found.reduce((sum, { amount }) => sum + amount, 0),
    median: found[Math.floor(found.length / 2)]?.amount,
  }));
}

Deno.serve({ port: 8080, onListen() {} }, () => Response.json(report()));
