import { readFollower } from '../lib/indexer/queries.ts';
import { json } from './http/answer.ts';
import { get, type Row } from './http/route.ts';

/** Liveness and readiness, for supervisors. */
export const healthRoutes: readonly Row[] = [
  get('/healthz', { handler: () => json({ ok: true }) }),

  get('/readyz', {
    async handler({ vault }) {
      const state = await vault.readiness();
      if (!state.ok) return json(state, { status: 503 });
      const follower = await readFollower(vault);
      // What is wrong with the chain is told and makes no vault unready: another one would meet the same.
      const relay = vault.relay && ((await vault.relay.trouble()) ?? 'ok');
      return json({
        ...state,
        ...(follower ? { follower: { block: follower.block, lag: follower.lag } } : {}),
        ...(relay ? { relay } : {}),
      });
    },
  }),
];
