import { pick } from '../ledger.ts';
import type { Road } from '../place.ts';
import { type Fault, type FaultPlace, fault, untilMet } from './fault.ts';

const ROADS: readonly Road[] = ['hang', 'drop', 'lose'];
const NODE_TROUBLES = {
  'the node hangs': () => new Promise<Response>(() => undefined),
  'the node drops what it is asked': async () => new Response('bad gateway', { status: 502 }),
  'the node answers rubbish': async () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
} as const;

/** What happens to those that vaults ask: the node, the mail server, and the receiver of webhooks. */
export function upstreamFaults({ world }: FaultPlace): Fault[] {
  const { node, post, receiver, time } = world;
  const during = async (ms: number, trouble: typeof node.trouble) => {
    node.trouble = trouble;
    const isMet = await untilMet(time, ms, () => node.methods.length);
    node.trouble = undefined;
    return isMet;
  };
  return [
    ...Object.entries(NODE_TROUBLES).map(([name, trouble]) =>
      fault(name, (draw) => during(1_000 + draw.below(2_000), trouble)),
    ),
    fault('the node has seen no transaction', (draw) =>
      during(1_000 + draw.below(3_000), async (forward, methods) => {
        const answer = await (await forward()).json();
        const blind = (one: object, method?: string) =>
          /Receipt|TransactionByHash/.test(method ?? '') ? { ...one, result: null } : one;
        return Response.json(
          Array.isArray(answer) ? answer.map((one, i) => blind(one, methods[i])) : blind(answer, methods[0]),
        );
      }),
    ),
    fault('the road to the mail server is blocked', async (draw) => {
      post.setRoad(pick(draw, ROADS));
      const isMet = await untilMet(time, 1_000 + draw.below(2_000), post.met);
      post.setRoad('open');
      return isMet;
    }),
    fault('the receiver of webhooks lies', async (draw) => {
      const rate = receiver.rate;
      receiver.rate = 700;
      const isMet = await untilMet(time, 1_000 + draw.below(2_000), () => liesOf(receiver.lies()));
      receiver.rate = rate;
      return isMet;
    }),
  ];
}

const liesOf = (lies: Readonly<Record<string, number>>) => Object.values(lies).reduce((sum, n) => sum + n, 0);
