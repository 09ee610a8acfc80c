import type { Fetch } from '../../../lib/base/http-client.ts';
import type { Mailer } from '../../../lib/delivery/smtp.ts';
import type { Draw } from '../../support/draw.ts';
import { answerAs } from '../../support/evidence/stand-in.ts';
import type { World } from '../../support/evidence/world.ts';
import type { Trouble } from '../../support/forwarder.ts';
import { type Receiver, toWebhook } from '../../support/receiver.ts';
import { lying } from '../../support/torture/lies.ts';
import type { LyingReceiver, Place, Post, Road, Time } from '../../support/torture/place.ts';

/** What is around a simulated vault. Nothing of it is a server: all of it answers to calls of functions. */
export interface Upstreams extends Pick<Place, 'node'> {
  readonly post: Post & Mailer;
  readonly receiver: LyingReceiver;
  /** The node. */
  readonly fetch: Fetch;
  readonly webhookFetch: Fetch;
}

interface Outside {
  readonly draw: Draw;
  readonly time: Time;
  /** What the node shows. */
  readonly world: World;
  readonly hexOf: (name: string) => string;
}

/** All of them, in order. */
export function openUpstreams({ draw, time, world, hexOf }: Outside): Upstreams {
  const way = () => time.sleep(1 + draw.below(draw.below(30) === 0 ? 400 : 8));
  const methods: string[] = [];
  const node: { trouble: Trouble | undefined; readonly methods: readonly string[] } = { trouble: undefined, methods };
  const receiver = lying(emptyReceiver(), draw, time);
  return {
    node,
    post: openPost(draw, way),
    receiver,
    async fetch(_, { body: text }) {
      const body = JSON.parse(String(text));
      const called = [body].flat().map(({ method }) => String(method));
      methods.push(...called);
      await way();
      const forward = async () => Response.json(answerAs(world, body, hexOf));
      const response = await (node.trouble ? node.trouble(forward, called, String(text)) : forward());
      await way();
      return response;
    },
    async webhookFetch(url, { headers: given, body }) {
      const webhook = toWebhook(new Headers(given), String(body));
      await way();
      receiver.received.push(webhook);
      const response = await receiver.answer(webhook, new Request(url));
      await way();
      return response;
    },
  };
}

function emptyReceiver(): Pick<Receiver, 'received' | 'answer'> {
  return { received: [], answer: () => new Response(null, { status: 204 }) };
}

function openPost(draw: Draw, way: () => Promise<void>): Post & Mailer {
  const messages: { to: string; text: string }[] = [];
  let [road, met]: [Road, number] = ['open', 0];
  return {
    catcher: { messages },
    setRoad(next) {
      road = next;
    },
    met: () => met,
    async send({ to, text }) {
      await way();
      if (road !== 'open') met++;
      if (road === 'hang') return new Promise(() => undefined);
      // Nobody answered, or the connection broke in the midst of the mail.
      if (road === 'drop') throw Object.assign(new Error('dropped'), { reachedNobody: draw.below(2) === 0 });
      messages.push({ to, text });
      await way();
      if (road === 'lose') throw new Error('the answer was lost');
    },
  };
}

/** The node's answers come seconds late, and at times not whole. */
export function lateAndTorn(draw: Draw, time: Time): Trouble {
  return async (forward) => {
    await time.sleep(draw.below(4_000));
    const response = await forward();
    if (draw.below(3) > 0) return response;
    const text = await response.text();
    return new Response(text.slice(0, draw.below(text.length)), { headers: { 'content-type': 'application/json' } });
  };
}
