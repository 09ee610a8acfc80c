import type { Draw } from '../draw.ts';
import type { Receiver } from '../receiver.ts';
import type { LyingReceiver, Time } from './place.ts';

/** A later attempt is answered with the truth: its pauses grow, and the audit waits for it. */
const LIES_PER_WEBHOOK = 2;
const HANG_MS = 3_000;
const KINDS = ['500', 'hangs', 'redirects', 'says 503 with Retry-After', 'is slow'] as const;

/** Lets a receiver fail, hang, hang up, or take a webhook and say that it did not. */
export function lying<R extends Pick<Receiver, 'received' | 'answer'>>(
  truthful: R,
  draw: Draw,
  time: Time,
): R & LyingReceiver {
  const told = new Map<string, number>();
  const lies: Record<string, number> = {};
  const receiver = Object.assign(truthful, { rate: 0, lies: () => lies });
  receiver.answer = async ({ id }) => {
    const before = told.get(id) ?? 0;
    if (before >= LIES_PER_WEBHOOK || draw.below(1000) >= receiver.rate) return new Response(null, { status: 204 });
    told.set(id, before + 1);
    const kind = KINDS[draw.below(KINDS.length)] ?? '500';
    lies[kind] = (lies[kind] ?? 0) + 1;
    if (kind === 'hangs') await time.sleep(HANG_MS);
    if (kind === 'is slow') await time.sleep(draw.below(500));
    if (kind === 'redirects') return new Response(null, { status: 302, headers: { Location: 'http://127.0.0.1:1/' } });
    if (kind === 'says 503 with Retry-After')
      return new Response(null, { status: 503, headers: { 'Retry-After': '1' } });
    return new Response(null, { status: kind === '500' || kind === 'hangs' ? 500 : 200 });
  };
  return receiver;
}
