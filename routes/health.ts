import { readFollower } from '../lib/indexer/queries.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

/** Liveness and readiness, for supervisors. */
export const healthRoutes: readonly Route[] = [
  get('/healthz', { handler: () => json({ ok: true }) }),

  get('/readyz', {
    async handler({ ctx }) {
      const state = await ctx.readiness();
      if (!state.ok) return json(state, { status: 503 });
      const follower = await readFollower(ctx);
      // What is wrong with the chain is told and makes no vault unready: another one would meet the same.
      const relay = ctx.relay && ((await ctx.relay.blocker()) ?? 'ok');
      return json({
        ...state,
        ...(follower ? { follower: { block: follower.block, lag: follower.lag } } : {}),
        ...(relay ? { relay } : {}),
      });
    },
  }),
];
