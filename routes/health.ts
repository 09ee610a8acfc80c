import { readFollower } from '../lib/indexer/queries.ts';
import { Alive, Readiness } from './answers/vault.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

/** Liveness and readiness, for supervisors. */
export const healthRoutes = [
  get('/healthz', {
    summary: 'Whether the process is alive',
    answers: { 200: Alive },
    handler: () => json({ ok: true }),
  }),

  get('/readyz', {
    summary: 'Whether requests can be served',
    answers: { 200: Readiness, 503: Readiness },
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
] as const satisfies readonly Route[];
