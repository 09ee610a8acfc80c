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
      // Trouble with the chain is reported but does not make a vault unready: every other vault has the same trouble.
      const relay = ctx.relay && ((await ctx.relay.blocker()) ?? 'ok');
      return json({
        ...state,
        ...(follower ? { follower: { block: follower.block, lag: follower.lag } } : {}),
        ...(relay ? { relay } : {}),
        ...(ctx.registryCode.isKnownMissing() ? { registry: 'missing' } : {}),
      });
    },
  }),
];
